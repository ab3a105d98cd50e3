import type { JsonValue } from '../domain/json-value';
import type { Subject } from '../domain/subject';
import type { RedisConnection } from './connection';
import type { Keyspace } from './keyspace';

/**
 * A blob that no step of its call has taken up by then vanishes by itself, also when no reconciler runs. Longer than
 * any work can be parked.
 */
const UNCLAIMED_S = 7 * 86_400;

export interface UnclaimedBlob {
  readonly callId: string;
  readonly name: string;
}

/**
 * Values of a call that are too large, or not yet judged, to travel through Temporal. Named by call, not by content,
 * so that one can be deleted without a look at others. A blob is unclaimed until a step of the call refers to it; the
 * step that no longer does deletes it.
 */
export class Blobs {
  constructor(
    private readonly redis: RedisConnection,
    private readonly keyspace: Keyspace,
  ) {}

  async write(callId: string, name: string, value: JsonValue): Promise<void> {
    const { keyspace } = this;
    await this.redis
      .multi()
      .set(keyspace.callBlob(callId, name), JSON.stringify(value), {
        expiration: { type: 'EX', value: UNCLAIMED_S },
      })
      .zAdd(keyspace.blobsUnclaimed, { score: Date.now(), value: unclaimedEntry(callId, name) })
      .exec();
  }

  async discard(callId: string, name: string): Promise<void> {
    const { keyspace } = this;
    await this.redis
      .multi()
      .del(keyspace.callBlob(callId, name))
      .zRem(keyspace.blobsUnclaimed, unclaimedEntry(callId, name))
      .exec();
  }

  /** Makes a blob that is in use stay. */
  async claim(callId: string, name: string): Promise<void> {
    const { keyspace } = this;
    await this.redis
      .multi()
      .persist(keyspace.callBlob(callId, name))
      .zRem(keyspace.blobsUnclaimed, unclaimedEntry(callId, name))
      .exec();
  }

  /** Blobs that were written before the given time, in milliseconds, and that no step has taken up. */
  async listUnclaimed(before: number, limit: number): Promise<UnclaimedBlob[]> {
    const found = await this.redis.zRange(this.keyspace.blobsUnclaimed, 0, before, {
      BY: 'SCORE',
      LIMIT: { offset: 0, count: limit },
    });
    return found.map((entry) => {
      const space = entry.indexOf(' ');
      return { callId: entry.slice(0, space), name: entry.slice(space + 1) };
    });
  }

  /** The value of a subject, wherever it is kept. */
  async valueOf(callId: string, subject: Subject): Promise<JsonValue> {
    const found = await this.find(callId, subject);
    if (found === undefined) throw new Error(`a value of call ${callId} is gone`);
    return found.value;
  }

  /** The same, or nothing when it has been deleted since. */
  async find(callId: string, subject: Subject): Promise<{ value: JsonValue } | undefined> {
    if (subject.kind === 'inline') return { value: subject.value };
    const json = await this.redis.get(this.keyspace.callBlob(callId, subject.blob));
    return json === null ? undefined : { value: JSON.parse(json) as JsonValue };
  }
}

/** Ids and names hold no space. */
export function unclaimedEntry(callId: string, name: string): string {
  return `${callId} ${name}`;
}
