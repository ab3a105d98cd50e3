import { randomBytes } from 'node:crypto';
import type { JsonValue } from '../domain/json-value';
import type { RedisConnection } from './connection';
import type { Keyspace } from './keyspace';
import { redisScript, runScript, stringsOf } from './redis-script';

/** An early answer is taken up within moments, by the step that reads the hook's 202; a day outlives every retry. */
const EARLY_S = 86_400;

/**
 * Keeps an answer that came before the hook's promise to answer later was stored, as long as the call is still where
 * the sender saw it. The step that opens the wait looks for it in the same way (commit-call.ts), so that the answer is
 * found by one of the two, whatever the order.
 */
const KEEP_EARLY = redisScript(`
local call, early = KEYS[1], KEYS[2]
if (redis.call('HGET', call, 'n') or '0') ~= ARGV[1] then return {'moved'} end
if redis.call('SET', early, ARGV[2], 'NX', 'EX', ARGV[3]) then return {'kept'} end
return {'answered'}
`);

/** Answers of hooks that did not answer at once. */
export class Deliveries {
  constructor(
    private readonly redis: RedisConnection,
    private readonly keyspace: Keyspace,
  ) {}

  /** The key behind the callback tokens of this tenant; made when it is first needed. */
  async callbackKey(): Promise<string> {
    const { callbackKey } = this.keyspace;
    const known = await this.redis.get(callbackKey);
    if (known !== null) return known;
    await this.redis.set(callbackKey, randomBytes(32).toString('base64url'), { condition: 'NX' });
    const made = await this.redis.get(callbackKey);
    if (made === null) throw new Error('the callback key of the tenant cannot be kept');
    return made;
  }

  /**
   * `moved`: the call has made another step than `n` since it was read. `answered`: an answer is kept already.
   * @param answer a HookResult
   */
  async keepEarly(
    callId: string,
    { n, deliveryId, answer }: { n: number; deliveryId: string; answer: JsonValue },
  ): Promise<'kept' | 'moved' | 'answered'> {
    const [result] = stringsOf(
      await runScript(this.redis, KEEP_EARLY, {
        keys: [this.keyspace.call(callId), this.keyspace.earlyAnswer(deliveryId)],
        arguments: [String(n), JSON.stringify(answer), String(EARLY_S)],
      }),
    );
    if (result === 'kept' || result === 'moved' || result === 'answered') return result;
    throw new Error(`the script for early answers answered ${String(result)}`);
  }
}
