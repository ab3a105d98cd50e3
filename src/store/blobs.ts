import type { JsonValue } from '../domain/json-value';
import type { Subject } from '../domain/subject';
import type { RedisConnection } from './connection';
import type { Keyspace } from './keyspace';

/**
 * A blob that no step of its call has taken up by then vanishes by itself: the server that wrote it died, or the
 * value was refused. Longer than any work can be parked.
 */
const UNCLAIMED_S = 7 * 86_400;

/** Values of a call that are too large, or not yet judged, to travel through Temporal. Named by call, not by content. */
export class Blobs {
  constructor(
    private readonly redis: RedisConnection,
    private readonly keyspace: Keyspace,
  ) {}

  async write(callId: string, name: string, value: JsonValue): Promise<void> {
    await this.redis.set(this.keyspace.callBlob(callId, name), JSON.stringify(value), {
      expiration: { type: 'EX', value: UNCLAIMED_S },
    });
  }

  async discard(callId: string, name: string): Promise<void> {
    await this.redis.del(this.keyspace.callBlob(callId, name));
  }

  /** The value of a subject, wherever it is kept. */
  async valueOf(callId: string, subject: Subject): Promise<JsonValue> {
    if (subject.kind === 'inline') return subject.value;
    const json = await this.redis.get(this.keyspace.callBlob(callId, subject.blob));
    if (json === null) throw new Error(`blob ${subject.blob} of call ${callId} is gone`);
    return JSON.parse(json) as JsonValue;
  }
}
