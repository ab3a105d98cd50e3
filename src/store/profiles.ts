import type { ProfileChanged } from '../domain/audit';
import type { Profile } from '../domain/profile';
import type { Configuration } from '../domain/profile-schema';
import type { RedisConnection } from './connection';
import type { Keyspace } from './keyspace';
import { profileNotice } from './change-feed';
import { pageByName, type Page, type PageRequest } from './page';
import { redisScript, runScript, stringsOf } from './redis-script';

/** Writes a profile version and its audit event when the stored version is the expected one (0: there is none). */
const PUT = redisScript(`
local profile, profiles, audit = KEYS[1], KEYS[2], KEYS[3]
local id, expected, version, json, deleted, event_id, at, data, changes, notice =
  ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10]
if redis.call('HEXISTS', profile, 'deleted') == 1 then return {'gone'} end
if (redis.call('HGET', profile, 'version') or '0') ~= expected then return {'stale'} end
redis.call('HSET', profile, 'json', json, 'version', version)
if deleted == '1' then
  redis.call('HSET', profile, 'deleted', '1')
  redis.call('ZREM', profiles, id)
else
  redis.call('ZADD', profiles, 0, id)
end
redis.call('XADD', audit, '*', 'id', event_id, 'type', 'profile_changed', 'at', at, 'data', data)
redis.call('PUBLISH', changes, notice)
return {'written'}
`);

export type ProfileWrite = 'written' | 'stale' | 'gone';

export class Profiles {
  constructor(
    private readonly redis: RedisConnection,
    private readonly keyspace: Keyspace,
  ) {}

  /** Stores `profile` as the version that follows `profile.version - 1`. `stale`: somebody else wrote in between. */
  put(profile: Profile, change: Omit<ProfileChanged, 'profileId' | 'version'>): Promise<ProfileWrite> {
    return this.write(profile, change, false);
  }

  /** A deleted profile takes no new threads; what runs keeps its pinned version. */
  delete(profile: Profile, by: string): Promise<ProfileWrite> {
    return this.write(profile, { change: 'deleted', by }, true);
  }

  async read(profileId: string): Promise<Profile | undefined> {
    const [json, deleted] = await this.redis.hmGet(this.keyspace.profile(profileId), ['json', 'deleted']);
    return json == null || deleted != null ? undefined : parseProfile(json);
  }

  /** The last version, also of a deleted profile: threads that were made before go on under it. */
  async readLast(profileId: string): Promise<Profile | undefined> {
    const json = await this.redis.hGet(this.keyspace.profile(profileId), 'json');
    return json === null ? undefined : parseProfile(json);
  }

  list(page: PageRequest): Promise<Page<string>> {
    return pageByName(this.redis, this.keyspace.profiles, page);
  }

  private async write(
    profile: Profile,
    change: Omit<ProfileChanged, 'profileId' | 'version'>,
    deleted: boolean,
  ): Promise<ProfileWrite> {
    const { id, version, updatedAt } = profile;
    const { keyspace } = this;
    const data: ProfileChanged = { profileId: id, version, ...change };
    const [result] = stringsOf(
      await runScript(this.redis, PUT, {
        keys: [keyspace.profile(id), keyspace.profiles, keyspace.audit],
        arguments: [
          id,
          String(version - 1),
          String(version),
          JSON.stringify(profile),
          deleted ? '1' : '0',
          `${id}:${version}`,
          updatedAt,
          JSON.stringify(data),
          keyspace.changes,
          profileNotice(id),
        ],
      }),
    );
    if (result === 'written' || result === 'stale' || result === 'gone') return result;
    throw new Error(`the profile script answered ${String(result)}`);
  }
}

/** A profile that was written before its configuration had permissions and tools has none. */
function parseProfile(json: string): Profile {
  const { configuration, ...profile } = JSON.parse(json) as Omit<Profile, 'configuration'> & {
    configuration: Partial<Configuration> & Pick<Configuration, 'hooks' | 'timeouts'>;
  };
  return {
    ...profile,
    configuration: { permissions: [], unmatchedTools: 'allow', tools: [], ...configuration },
  };
}
