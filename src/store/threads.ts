import type { JsonObject } from '../domain/json-value';
import type { RedisConnection } from './connection';
import type { Keyspace } from './keyspace';
import { pageByName, type Page, type PageRequest } from './page';
import { APPEND_EVENT, redisScript, runScript, stringsOf } from './redis-script';

export interface ThreadRecord {
  readonly id: string;
  readonly profileId: string;
  /** Owner of the key that made the thread. */
  readonly owner: string;
  readonly metadata: JsonObject;
  readonly createdAt: string;
}

export interface ThreadSnapshot {
  readonly thread: ThreadRecord;
  readonly closed: boolean;
}

export interface OpenWork {
  /** How many calls have not ended. */
  readonly openCalls: number;
  /** The turn that is running. */
  readonly turn?: string;
  readonly openWaits: readonly string[];
}

const CREATE = redisScript(`
${APPEND_EVENT}
local thread, events, audit, threads, profile, of_owner = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
if redis.call('HEXISTS', profile, 'json') == 0 or redis.call('HEXISTS', profile, 'deleted') == 1 then return {'no_profile'} end
if redis.call('EXISTS', thread) == 1 then return {'exists'} end
redis.call('HSET', thread, 'json', ARGV[2], 'state', 'open', 'generation', 1)
redis.call('ZADD', threads, 0, ARGV[1])
redis.call('ZADD', of_owner, 0, ARGV[1])
append(thread, events, audit, ARGV[1], ARGV[1] .. ':created', 'thread_created', ARGV[3], ARGV[4])
redis.call('PUBLISH', ARGV[5], ARGV[1])
return {'created'}
`);

const CLOSE = redisScript(`
${APPEND_EVENT}
local thread, events, audit = KEYS[1], KEYS[2], KEYS[3]
if redis.call('EXISTS', thread) == 0 then return {'unknown'} end
if redis.call('HGET', thread, 'state') == 'closed' then return {'closed_before'} end
redis.call('HSET', thread, 'state', 'closed')
redis.call('HINCRBY', thread, 'generation', 1)
append(thread, events, audit, ARGV[1], ARGV[1] .. ':closed', 'thread_closed', ARGV[2], ARGV[3])
redis.call('PUBLISH', ARGV[4], ARGV[1])
return {'closed'}
`);

/** Threads whose profile is remembered. */
const MOST_REMEMBERED = 10_000;

export class Threads {
  /** A thread has the same profile for life. The threads that were read last are at the end. */
  private readonly profileIds = new Map<string, string>();

  constructor(
    private readonly redis: RedisConnection,
    private readonly keyspace: Keyspace,
  ) {}

  /** `no_profile`: the profile does not exist or was deleted, and takes no new threads. */
  async create(thread: ThreadRecord): Promise<'created' | 'no_profile'> {
    const result = await this.tryCreate(thread);
    if (result === 'exists') throw new Error(`thread ${thread.id} exists already`);
    return result;
  }

  private async tryCreate(thread: ThreadRecord): Promise<'created' | 'exists' | 'no_profile'> {
    const { keyspace } = this;
    const [result] = stringsOf(
      await runScript(this.redis, CREATE, {
        keys: [
          keyspace.thread(thread.id),
          keyspace.threadEvents(thread.id),
          keyspace.audit,
          keyspace.threads,
          keyspace.profile(thread.profileId),
          keyspace.threadsOf(thread.owner),
        ],
        arguments: [
          thread.id,
          JSON.stringify(thread),
          thread.createdAt,
          JSON.stringify({ profileId: thread.profileId }),
          keyspace.changes,
        ],
      }),
    );
    if (result === 'created' || result === 'exists' || result === 'no_profile') return result;
    throw new Error(`the script of threads answered ${String(result)}`);
  }

  /** The same for a thread whose id is a function of what it is about: one that is there already is as good. */
  async ensure(thread: ThreadRecord): Promise<'there' | 'no_profile'> {
    if ((await this.read(thread.id)) !== undefined) return 'there';
    const result = await this.tryCreate(thread);
    return result === 'no_profile' ? result : 'there';
  }

  /** Closes a thread for new calls; ending its open calls is up to their workflows. */
  async close(
    threadId: string,
    { by, at }: { by: string; at: string },
  ): Promise<'closed' | 'closed_before' | 'unknown'> {
    const { keyspace } = this;
    const [result] = stringsOf(
      await runScript(this.redis, CLOSE, {
        keys: [keyspace.thread(threadId), keyspace.threadEvents(threadId), keyspace.audit],
        arguments: [threadId, at, JSON.stringify({ by }), keyspace.changes],
      }),
    );
    if (result === 'closed' || result === 'closed_before' || result === 'unknown') return result;
    throw new Error(`the close script answered ${String(result)}`);
  }

  async read(threadId: string): Promise<ThreadSnapshot | undefined> {
    const [json, state] = await this.redis.hmGet(this.keyspace.thread(threadId), ['json', 'state']);
    if (json === null || json === undefined) return undefined;
    const thread = JSON.parse(json) as ThreadRecord;
    this.remember(thread);
    return { thread, closed: state === 'closed' };
  }

  /** The profile of a thread that was read lately, for who wants to read both at once. */
  recallProfileId(threadId: string): string | undefined {
    return this.profileIds.get(threadId);
  }

  async readOpenWork(threadId: string): Promise<OpenWork> {
    const [openCalls, openWaits, turn] = await Promise.all([
      this.redis.sCard(this.keyspace.threadOpenCalls(threadId)),
      this.redis.sMembers(this.keyspace.threadWaits(threadId)),
      this.redis.hGet(this.keyspace.thread(threadId), 'turn'),
    ]);
    return { openCalls, openWaits, ...(turn !== null && { turn }) };
  }

  /** The calls of a thread that have not ended, in no order. */
  listOpenCalls(threadId: string): Promise<string[]> {
    return this.redis.sMembers(this.keyspace.threadOpenCalls(threadId));
  }

  /** Threads in the order in which they were made: all, those that hold an open wait, or those of one owner. */
  list(page: PageRequest, which: 'all' | 'waiting' | { readonly owner: string }): Promise<Page<string>> {
    return pageByName(this.redis, this.listKey(which), page);
  }

  private remember({ id, profileId }: ThreadRecord): void {
    this.profileIds.delete(id);
    this.profileIds.set(id, profileId);
    if (this.profileIds.size <= MOST_REMEMBERED) return;
    const [oldest] = this.profileIds.keys();
    if (oldest !== undefined) this.profileIds.delete(oldest);
  }

  private listKey(which: 'all' | 'waiting' | { readonly owner: string }): string {
    if (which === 'all') return this.keyspace.threads;
    return which === 'waiting' ? this.keyspace.threadsWaiting : this.keyspace.threadsOf(which.owner);
  }
}
