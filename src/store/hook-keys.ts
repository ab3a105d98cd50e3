import type { RedisConnection } from './connection';
import type { Keyspace } from './keyspace';
import { redisScript, runScript, stringsOf } from './redis-script';

/** A key with which Manager signs what it relays to this tenant. */
export interface HookKey {
  /** Grows by one with each new key. */
  readonly generation: number;
  readonly secret: string;
  readonly installedAt: string;
}

/** Of the installed keys the newest and the one before it are accepted. */
const ACCEPTED = 2;

const INSTALL = redisScript(`
local known = redis.call('HGET', KEYS[1], ARGV[1])
if known then
  if cjson.decode(known).secret == ARGV[3] then return {'unchanged'} end
  return {'other_secret'}
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return {'installed'}
`);

export class HookKeys {
  constructor(
    private readonly redis: RedisConnection,
    private readonly keyspace: Keyspace,
  ) {}

  /** A generation has one secret for good. */
  async install(key: HookKey): Promise<'installed' | 'unchanged' | 'other_secret'> {
    const [result] = stringsOf(
      await runScript(this.redis, INSTALL, {
        keys: [this.keyspace.hookKeys],
        arguments: [String(key.generation), JSON.stringify(key), key.secret],
      }),
    );
    if (result === 'installed' || result === 'unchanged' || result === 'other_secret') return result;
    throw new Error(`the script of hook keys answered ${String(result)}`);
  }

  /** @returns whether it was installed */
  async retire(generation: number): Promise<boolean> {
    return (await this.redis.hDel(this.keyspace.hookKeys, String(generation))) > 0;
  }

  /** The key of a generation, if that is the newest or the one before it. */
  async accepted(generation: number): Promise<HookKey | undefined> {
    const all = Object.values(await this.redis.hGetAll(this.keyspace.hookKeys)).map(
      (json) => JSON.parse(json) as HookKey,
    );
    return all
      .sort((one, other) => other.generation - one.generation)
      .slice(0, ACCEPTED)
      .find((key) => key.generation === generation);
  }
}
