import { isTextStart, type CallRecord, type CallStart, type ToolCallStart } from '../domain/call';
import { toolCallState, type CallState, type ToolCallState } from '../domain/call-state';
import type { Transition } from '../domain/transition';
import type { ToolFinished } from '../domain/audit';
import type { TenantSettings } from '../domain/settings';
import type { AuditedEvents, AuditRules } from './audited-events';
import { commitCall, type CommitOptions, type CommitResult } from './commit-call';
import type { RedisConnection } from './connection';
import type { Keyspace } from './keyspace';
import { pageByScore, type Page, type PageRequest } from './page';
import { APPEND_EVENT, redisScript, runScript } from './redis-script';

export interface CallSnapshot<State extends CallState = CallState, Start extends CallStart = CallStart> {
  /** Where the call stands after its last stored step. */
  readonly state: State;
  readonly start: Start;
  /** Changes with every write. */
  readonly generation: string;
}

/** Evidence that came after the end: an event that changes nothing, once per content. */
const APPEND_EVIDENCE = redisScript(`
${APPEND_EVENT}
local call, thread, events, audit = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
if redis.call('HSETNX', call, 'evidence:' .. ARGV[2], ARGV[4]) == 0 then return {'repeated'} end
append(thread, events, audit, ARGV[1], ARGV[3], 'tool_finished', ARGV[4], ARGV[5])
redis.call('PUBLISH', ARGV[6], ARGV[1])
return {'applied'}
`);

export class Calls {
  constructor(
    private readonly redis: RedisConnection,
    private readonly keyspace: Keyspace,
    private readonly events: AuditedEvents,
  ) {}

  commit(transition: Transition, options?: CommitOptions): Promise<CommitResult> {
    const { redis, keyspace, events } = this;
    return commitCall({ redis, keyspace, events }, transition, options);
  }

  /** For a writer that has something else to wait for first. */
  readAuditRules(known?: TenantSettings): Promise<AuditRules> {
    return this.events.readRules(known);
  }

  async read(callId: string): Promise<CallSnapshot | undefined> {
    const fields = await this.redis.hmGet(this.keyspace.call(callId), ['state', 'start', 'generation']);
    const [state, start, generation] = fields;
    if (state == null || start == null) return undefined;
    return {
      state: JSON.parse(state) as CallState,
      start: JSON.parse(start) as CallStart,
      generation: generation ?? '',
    };
  }

  /** The same, or nothing for a text. */
  async readToolCall(callId: string): Promise<CallSnapshot<ToolCallState, ToolCallStart> | undefined> {
    const snapshot = await this.read(callId);
    if (snapshot === undefined || isTextStart(snapshot.start)) return undefined;
    return { ...snapshot, start: snapshot.start, state: toolCallState(snapshot.state) };
  }

  /** Tool calls of a thread in the order in which they were first stored. */
  list(threadId: string, page: PageRequest): Promise<Page<string>> {
    return pageByScore(this.redis, this.keyspace.threadCalls(threadId), page);
  }

  /** The last call of a thread to which the model gave this id. */
  async findByToolUse(threadId: string, toolUseId: string): Promise<string | undefined> {
    return (await this.redis.hGet(this.keyspace.threadToolUses(threadId), toolUseId)) ?? undefined;
  }

  async confirmStarted(callId: string): Promise<void> {
    await this.redis.zRem(this.keyspace.callsUnstarted, callId);
  }

  /** Calls whose workflow start was not confirmed since before the given time, in milliseconds. */
  listUnstarted(before: number, limit: number): Promise<string[]> {
    return this.redis.zRange(this.keyspace.callsUnstarted, 0, before, {
      BY: 'SCORE',
      LIMIT: { offset: 0, count: limit },
    });
  }

  async appendEvidence(call: CallRecord, finished: ToolFinished, at: string): Promise<void> {
    const { keyspace } = this;
    const eventId = `${call.id}:evidence:${finished.digest}`;
    await runScript(this.redis, APPEND_EVIDENCE, {
      keys: [
        keyspace.call(call.id),
        keyspace.thread(call.threadId),
        keyspace.threadEvents(call.threadId),
        keyspace.audit,
      ],
      arguments: [call.threadId, finished.digest, eventId, at, JSON.stringify(finished), keyspace.changes],
    });
  }
}
