import type { RedisConnection } from './connection';
import type { Keyspace } from './keyspace';
import { pageByName } from './page';

/** The calls of a tenant that have not ended. */
export class OpenCalls {
  constructor(
    private readonly redis: RedisConnection,
    private readonly keyspace: Keyspace,
  ) {}

  /** Those of the ids that are not of an open call: ended, or unknown. */
  async notAmong(callIds: readonly string[]): Promise<string[]> {
    if (callIds.length === 0) return [];
    const scores = await this.redis.zmScore(this.keyspace.callsOpen, [...callIds]);
    return callIds.filter((_, index) => scores[index] === null);
  }

  /**
   * Walks over at most `max` open calls, beginning where the last sweep stopped and from the start again after the
   * end, so that every call's turn comes however many there are.
   */
  async *sweep(max: number, pageSize: number): AsyncGenerator<string> {
    const { callsOpen, callsOpenCursor } = this.keyspace;
    let after = (await this.redis.get(callsOpenCursor)) ?? undefined;
    for (let walked = 0; walked < max;) {
      const page = await pageByName(this.redis, callsOpen, {
        limit: Math.min(pageSize, max - walked),
        ...(after !== undefined && { after }),
      });
      yield* page.items;
      walked += page.items.length;
      after = page.next;
      if (after === undefined) {
        await this.redis.del(callsOpenCursor);
        return;
      }
      await this.redis.set(callsOpenCursor, after);
    }
  }
}
