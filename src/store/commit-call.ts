import type { JsonValue } from '../domain/json-value';
import type { StoredWait } from '../domain/stored-wait';
import { isOpen, isToolCall, type CallRecord, type CallStart } from '../domain/call';
import { isSettled, type CallState } from '../domain/call-state';
import type { Transition } from '../domain/transition';
import type { AuditedEvents, AuditRules } from './audited-events';
import { unclaimedEntry } from './blobs';
import type { RedisConnection } from './connection';
import type { Keyspace } from './keyspace';
import { APPEND_EVENT, redisScript, runScript, stringsOf } from './redis-script';

/**
 * Applies one step of a call: load, check, write, bump the generations, append the events, tell the listeners.
 *
 * JSON texts go through the script as opaque strings: Lua's JSON would turn [] into {} and lose digits.
 */
const COMMIT = redisScript(`
${APPEND_EVENT}
local call, thread, events, calls, open, thread_waits, waits, wait_seq, waiting, audit, unstarted, threads, calls_open, of_owner, unclaimed, tool_uses, pending, early =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14], KEYS[15], KEYS[16], KEYS[17], KEYS[18]
local fixed = 18
local step = cjson.decode(ARGV[1])
local applied = tonumber(redis.call('HGET', call, 'n') or '0')
if applied >= step.n then return {'taken', redis.call('HGET', call, 'state')} end
if step.ifGeneration and (redis.call('HGET', call, 'generation') or '') ~= step.ifGeneration then
  return {'changed'}
end
if step.onlyIfThreadOpen and redis.call('HGET', thread, 'state') == 'closed' then return {'thread_closed'} end
if step.unlessAnswered then
  local answer = redis.call('GET', early)
  if answer then return {'answered', answer} end
end

if redis.call('EXISTS', thread) == 0 then
  redis.call('HSET', thread, 'json', step.thread, 'state', 'open')
  redis.call('ZADD', threads, 0, step.threadId)
  redis.call('ZADD', of_owner, 0, step.threadId)
end
redis.call('HSET', call, 'state', step.state, 'n', step.n)
redis.call('HINCRBY', call, 'generation', 1)
if not redis.call('ZSCORE', calls, step.callId) then
  redis.call('ZADD', calls, redis.call('HINCRBY', thread, 'callSeq', 1), step.callId)
end
if step.isOpen then
  redis.call('SADD', open, step.callId)
  redis.call('ZADD', calls_open, 0, step.callId)
else
  redis.call('SREM', open, step.callId)
  redis.call('ZREM', calls_open, step.callId)
end
if step.start then redis.call('HSET', call, 'start', step.start) end
for _, tool_use in ipairs(step.toolUses) do redis.call('HSET', tool_uses, tool_use, step.callId) end
if step.indexed then
  redis.call('ZADD', pending, 'NX', step.indexed, step.callId)
  redis.call('ZREMRANGEBYRANK', pending, 0, -33)
  redis.call('EXPIRE', pending, 604800)
end
if step.unstartedSince then
  redis.call('ZADD', unstarted, step.unstartedSince, step.callId)
else
  redis.call('ZREM', unstarted, step.callId)
end
for i, wait in ipairs(step.waits) do
  local key = KEYS[fixed + i]
  redis.call('HSET', key, 'json', wait.json, 'state', wait.isOpen and 'open' or 'closed', 'openedAt', wait.openedAt)
  if wait.isOpen then
    if not redis.call('ZSCORE', waits, wait.id) then redis.call('ZADD', waits, redis.call('INCR', wait_seq), wait.id) end
    redis.call('SADD', thread_waits, wait.id)
    redis.call('ZADD', waiting, 0, step.threadId)
  else
    redis.call('ZREM', waits, wait.id)
    redis.call('SREM', thread_waits, wait.id)
    if redis.call('SCARD', thread_waits) == 0 then redis.call('ZREM', waiting, step.threadId) end
  end
end
for i, blob in ipairs(step.blobs) do
  local key = KEYS[fixed + #step.waits + i]
  if blob.keep then redis.call('PERSIST', key) else redis.call('DEL', key) end
  redis.call('ZREM', unclaimed, blob.entry)
end
for i, event in ipairs(step.events) do
  append(thread, events, audit, step.threadId, step.callId .. ':' .. step.n .. ':' .. i, event.type, step.at, event.data)
end
if step.closesDelivery then redis.call('DEL', early) end
redis.call('HINCRBY', thread, 'generation', 1)
redis.call('PUBLISH', ARGV[2], step.notice)
return {'applied'}
`);

export interface CommitOptions {
  /** The call's arguments, with its first step. */
  readonly start?: CallStart;
  /** Refuse when the thread was closed; for the first step of a call. */
  readonly onlyIfThreadOpen?: boolean;
  /** Refuse when the call changed since it was read with this generation; for writers other than its workflow. */
  readonly ifGeneration?: string;
  /** When the writer has read them already; else they are read when an event needs them. */
  readonly auditRules?: AuditRules | Promise<AuditRules>;
  /** The call's workflow is still to be started. */
  readonly unstarted?: boolean;
  /**
   * The delivery that this step closes, or waits for. With `unlessAnswered` the step is refused when an early answer
   * is kept; else such an answer is of no more use and is deleted.
   */
  readonly delivery?: { readonly deliveryId: string; readonly unlessAnswered: boolean };
}

export type CommitResult =
  | { readonly kind: 'applied' }
  /** This step, or a later one, is stored already: here is the stored state. */
  | { readonly kind: 'taken'; readonly state: CallState }
  | { readonly kind: 'changed' }
  /** The hook that was to answer later has answered already, with this HookResult. */
  | { readonly kind: 'answered'; readonly answer: JsonValue }
  | { readonly kind: 'thread_closed' };

export async function commitCall(
  { redis, keyspace, events }: { redis: RedisConnection; keyspace: Keyspace; events: AuditedEvents },
  transition: Transition,
  options: CommitOptions = {},
): Promise<CommitResult> {
  const { call, waits, keepBlobs, dropBlobs = [], indexPending = '' } = transition;
  const prepared = await events.prepare(call.id, transition.events, options.auditRules);
  const reply = await runScript(redis, COMMIT, {
    keys: [
      keyspace.call(call.id),
      keyspace.thread(call.threadId),
      keyspace.threadEvents(call.threadId),
      listOf(keyspace, call),
      keyspace.threadOpenCalls(call.threadId),
      keyspace.threadWaits(call.threadId),
      keyspace.waits,
      keyspace.waitSeq,
      keyspace.threadsWaiting,
      keyspace.audit,
      keyspace.callsUnstarted,
      keyspace.threads,
      keyspace.callsOpen,
      keyspace.threadsOf(call.requestedBy.owner),
      keyspace.blobsUnclaimed,
      keyspace.threadToolUses(call.threadId),
      keyspace.pendingCalls(indexPending),
      keyspace.earlyAnswer(options.delivery?.deliveryId ?? ''),
      ...waits.map(({ wait }) => keyspace.wait(wait.id)),
      ...[...keepBlobs, ...dropBlobs].map((name) => keyspace.callBlob(call.id, name)),
    ],
    arguments: [JSON.stringify(stepFor(transition, prepared, options)), keyspace.changes],
  });
  const [kind, state = ''] = stringsOf(reply);
  switch (kind) {
    case 'applied':
    case 'changed':
    case 'thread_closed':
      return { kind };
    case 'answered':
      return { kind, answer: JSON.parse(state) as JsonValue };
    case 'taken':
      return { kind, state: JSON.parse(state) as CallState };
    case undefined:
    default:
      throw new Error(`the commit script answered ${String(kind)}`);
  }
}

function stepFor(
  transition: Transition,
  events: readonly { type: string; data: string }[],
  options: CommitOptions,
) {
  const { n, at, state, call, waits, keepBlobs, dropBlobs = [], indexPending, alias } = transition;
  const blob = (keep: boolean) => (name: string) => ({ keep, entry: unclaimedEntry(call.id, name) });
  const ownId = options.start !== undefined && isToolCall(call) ? call.toolUseId : undefined;
  return {
    n,
    at,
    callId: call.id,
    threadId: call.threadId,
    state: JSON.stringify(state),
    isOpen: isOpen(call.status),
    thread: JSON.stringify(restoredThread(call)),
    waits: waits.map(waitForScript),
    events,
    blobs: [...keepBlobs.map(blob(true)), ...dropBlobs.map(blob(false))],
    toolUses: [ownId, alias].filter((id) => id !== undefined),
    ...(indexPending !== undefined && { indexed: Date.parse(at) }),
    unlessAnswered: options.delivery?.unlessAnswered ?? false,
    notice: [call.threadId, call.id, ...(isSettled(state) ? ['settled'] : [])].join(' '),
    closesDelivery: options.delivery?.unlessAnswered === false,
    onlyIfThreadOpen: options.onlyIfThreadOpen ?? false,
    ...(options.ifGeneration !== undefined && { ifGeneration: options.ifGeneration }),
    ...(options.start !== undefined && { start: JSON.stringify(options.start) }),
    ...(options.unstarted === true && { unstartedSince: Date.parse(at) }),
  };
}

/** Where the call has its place in the thread. */
function listOf(keyspace: Keyspace, call: CallRecord): string {
  return isToolCall(call)
    ? keyspace.threadCalls(call.threadId)
    : keyspace.threadTexts(call.threadId, call.point);
}

function waitForScript(stored: StoredWait) {
  const { wait } = stored;
  return {
    id: wait.id,
    json: JSON.stringify(stored),
    isOpen: wait.outcome === undefined,
    openedAt: wait.openedAt,
  };
}

/** A store that lost a thread gets it back, without its metadata, from the next step of one of its calls. */
function restoredThread(call: CallRecord) {
  return {
    id: call.threadId,
    profileId: call.profileId,
    owner: call.requestedBy.owner,
    metadata: {},
    createdAt: call.createdAt,
  };
}
