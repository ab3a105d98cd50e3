import type { RedisConnection } from './connection';
import type { Keyspace } from './keyspace';
import { redisScript, runScript, stringsOf } from './redis-script';

/** Tells one caller of a decision that nobody has picked up, and the same caller again. */
const TELL_ONCE = redisScript(`
local told = redis.call('HGET', KEYS[1], 'told')
if not told then redis.call('HSET', KEYS[1], 'told', ARGV[1]) return {'told'} end
return {told == ARGV[1] and 'told' or 'taken'}
`);

/** Finds calls that were answered `pending` by what makes requests identical. It only finds; the workflow decides. */
export class PendingCalls {
  constructor(
    private readonly redis: RedisConnection,
    private readonly keyspace: Keyspace,
  ) {}

  /** Oldest first. */
  find(identity: string): Promise<string[]> {
    return this.redis.zRange(this.keyspace.pendingCalls(identity), 0, -1);
  }

  /**
   * Hands out how a call ended that nobody was allowed to run. Such a call has no workflow any more that could; told
   * twice it would do no harm, but the next request is to be judged anew.
   */
  async tellEnd(callId: string, claimant: string): Promise<'told' | 'taken'> {
    const [result] = stringsOf(
      await runScript(this.redis, TELL_ONCE, { keys: [this.keyspace.call(callId)], arguments: [claimant] }),
    );
    return result === 'told' ? 'told' : 'taken';
  }
}
