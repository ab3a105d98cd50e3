import type { JsonValue } from '../domain/json-value';
import type { Profile } from '../domain/profile';
import type { ModelStep, TurnRecord, TurnStart } from '../domain/turn';
import type { AuditedEvents } from './audited-events';
import type { RedisConnection } from './connection';
import type { Keyspace } from './keyspace';
import { pageByScore, type Page, type PageRequest } from './page';
import { APPEND_EVENT, redisScript, runScript, stringsOf } from './redis-script';

/** A turn with everything that its workflow and its activities go by. */
export interface TurnSnapshot {
  readonly record: TurnRecord;
  readonly start: TurnStart;
  /** As it was when the turn began: later changes mean nothing for it. */
  readonly profile: Profile;
}

/** Stores a new turn, unless the thread is closed or another turn of it is running. */
const CREATE = redisScript(`
${APPEND_EVENT}
local turn, thread, events, audit, turns, unstarted, open = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local id, thread_id, json, start, profile, at, since, data, changes =
  ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local known = redis.call('HGET', turn, 'json')
if known then return {'known', known} end
if redis.call('HGET', thread, 'state') ~= 'open' then return {'thread_closed'} end
local running = redis.call('HGET', thread, 'turn')
if running then return {'busy', running} end
redis.call('HSET', turn, 'json', json, 'start', start, 'profile', profile)
redis.call('HSET', thread, 'turn', id)
redis.call('ZADD', turns, redis.call('HINCRBY', thread, 'callSeq', 1), id)
redis.call('ZADD', unstarted, since, id)
redis.call('ZADD', open, 0, id)
append(thread, events, audit, thread_id, id .. ':1', 'turn_started', at, data)
redis.call('HINCRBY', thread, 'generation', 1)
redis.call('PUBLISH', changes, thread_id)
return {'created'}
`);

/** Ends a turn once: the first outcome stands. What the model said on the way is deleted with it. */
const FINISH = redisScript(`
${APPEND_EVENT}
local turn, thread, events, audit, unstarted, open = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local id, thread_id, json, at, data, changes = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local ended = redis.call('HGET', turn, 'ended')
if ended then return {'ended', redis.call('HGET', turn, 'json')} end
redis.call('HSET', turn, 'json', json, 'ended', at)
for _, field in ipairs(redis.call('HKEYS', turn)) do
  if string.sub(field, 1, 5) == 'said:' then redis.call('HDEL', turn, field) end
end
if redis.call('HGET', thread, 'turn') == id then redis.call('HDEL', thread, 'turn') end
redis.call('ZREM', unstarted, id)
redis.call('ZREM', open, id)
append(thread, events, audit, thread_id, id .. ':2', 'turn_finished', at, data)
redis.call('HINCRBY', thread, 'generation', 1)
redis.call('PUBLISH', changes, thread_id .. ' ' .. id .. ' settled')
return {'finished'}
`);

/** Keeps what the model said in one step; what was kept first stands. Nothing is kept for a turn that has ended. */
const KEEP_STEP = redisScript(`
local turn = KEYS[1]
local field, step, said = ARGV[1], ARGV[2], ARGV[3]
if redis.call('HEXISTS', turn, 'ended') == 1 then return {'ended'} end
if redis.call('HSETNX', turn, 'step:' .. field, step) == 1 and said ~= '' then
  redis.call('HSET', turn, 'said:' .. field, said)
end
return {'kept', redis.call('HGET', turn, 'step:' .. field)}
`);

export type TurnCreation =
  | { readonly kind: 'created' }
  | { readonly kind: 'known'; readonly record: TurnRecord }
  | { readonly kind: 'busy'; readonly turnId: string }
  | { readonly kind: 'thread_closed' };

export class Turns {
  constructor(
    private readonly redis: RedisConnection,
    private readonly keyspace: Keyspace,
    private readonly events: AuditedEvents,
  ) {}

  async create({ record, start, profile }: TurnSnapshot): Promise<TurnCreation> {
    const { keyspace } = this;
    const { id, threadId, createdAt } = record;
    const data = {
      turnId: id,
      profileId: record.profileId,
      profileVersion: record.profileVersion,
      model: profile.configuration.model?.name ?? '',
      requestedBy: record.requestedBy.owner,
      subjectDigest: start.input.subject.digest,
    };
    const [kind, more = ''] = stringsOf(
      await runScript(this.redis, CREATE, {
        keys: [
          keyspace.turn(id),
          keyspace.thread(threadId),
          keyspace.threadEvents(threadId),
          keyspace.audit,
          keyspace.threadTurns(threadId),
          keyspace.turnsUnstarted,
          keyspace.turnsOpen,
        ],
        arguments: [
          id,
          threadId,
          JSON.stringify(record),
          JSON.stringify(start),
          JSON.stringify(profile),
          createdAt,
          String(Date.parse(createdAt)),
          JSON.stringify(data),
          keyspace.changes,
        ],
      }),
    );
    switch (kind) {
      case 'created':
      case 'thread_closed':
        return { kind };
      case 'known':
        return { kind, record: JSON.parse(more) as TurnRecord };
      case 'busy':
        return { kind, turnId: more };
      case undefined:
      default:
        throw new Error(`the script for new turns answered ${String(kind)}`);
    }
  }

  /** Gives the turn as it has ended, now or before. */
  async finish(record: TurnRecord): Promise<TurnRecord> {
    const { keyspace } = this;
    const { id, threadId, updatedAt, status, denial, failure } = record;
    if (status === 'running') throw new Error('a turn is finished with its outcome');
    const [event] = await this.events.prepare(id, [
      {
        type: 'turn_finished',
        data: {
          turnId: id,
          status,
          ...(denial !== undefined && {
            denial: {
              by: denial.by,
              reason: denial.reason,
              ...(denial.hookId !== undefined && { hookId: denial.hookId }),
            },
          }),
          ...(failure !== undefined && { failure }),
        },
      },
    ]);
    const [kind, json = ''] = stringsOf(
      await runScript(this.redis, FINISH, {
        keys: [
          keyspace.turn(id),
          keyspace.thread(threadId),
          keyspace.threadEvents(threadId),
          keyspace.audit,
          keyspace.turnsUnstarted,
          keyspace.turnsOpen,
        ],
        arguments: [id, threadId, JSON.stringify(record), updatedAt, event?.data ?? '{}', keyspace.changes],
      }),
    );
    return kind === 'ended' ? (JSON.parse(json) as TurnRecord) : record;
  }

  /**
   * Keeps what the model said in a step, and gives what is kept; nothing when the turn has ended.
   * @param said its text, which is still to be judged: it is deleted with the turn's end
   */
  async keepStep(
    turnId: string,
    number: number,
    { step, said }: { step: ModelStep; said: string },
  ): Promise<ModelStep | undefined> {
    const [kind, json = ''] = stringsOf(
      await runScript(this.redis, KEEP_STEP, {
        keys: [this.keyspace.turn(turnId)],
        arguments: [String(number), JSON.stringify(step), said],
      }),
    );
    return kind === 'kept' ? (JSON.parse(json) as ModelStep) : undefined;
  }

  async read(turnId: string): Promise<TurnSnapshot | undefined> {
    const fields = ['json', 'start', 'profile'];
    const [json, start, profile] = await this.redis.hmGet(this.keyspace.turn(turnId), fields);
    if (json == null || start == null || profile == null) return undefined;
    return {
      record: JSON.parse(json) as TurnRecord,
      start: JSON.parse(start) as TurnStart,
      profile: JSON.parse(profile) as Profile,
    };
  }

  /** The steps of the model in order, with what it said in them as long as the turn runs. */
  async readSteps(turnId: string): Promise<{ step: ModelStep; said?: string }[]> {
    const fields = new Map<string, JsonValue>(
      Object.entries(await this.redis.hGetAll(this.keyspace.turn(turnId))),
    );
    const steps: { step: ModelStep; said?: string }[] = [];
    for (let number = 0; ; number += 1) {
      const step = fields.get(`step:${number}`);
      if (typeof step !== 'string') return steps;
      const said = fields.get(`said:${number}`);
      steps.push({ step: JSON.parse(step) as ModelStep, ...(typeof said === 'string' && { said }) });
    }
  }

  /** The turn of a thread that is running. */
  async readRunning(threadId: string): Promise<string | undefined> {
    return (await this.redis.hGet(this.keyspace.thread(threadId), 'turn')) ?? undefined;
  }

  /** Turns of a thread in the order in which they were made. */
  list(threadId: string, page: PageRequest): Promise<Page<string>> {
    return pageByScore(this.redis, this.keyspace.threadTurns(threadId), page);
  }

  async confirmStarted(turnId: string): Promise<void> {
    await this.redis.zRem(this.keyspace.turnsUnstarted, turnId);
  }

  /** Turns whose workflow start was not confirmed since before the given time, in milliseconds. */
  listUnstarted(before: number, limit: number): Promise<string[]> {
    return this.redis.zRange(this.keyspace.turnsUnstarted, 0, before, {
      BY: 'SCORE',
      LIMIT: { offset: 0, count: limit },
    });
  }

  /** Turns that have not ended. */
  listOpen(limit: number): Promise<string[]> {
    return this.redis.zRange(this.keyspace.turnsOpen, 0, limit - 1);
  }
}
