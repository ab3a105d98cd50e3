import type { TenantSettings } from '../domain/settings';
import { DEFAULT_SETTINGS } from '../domain/settings';
import type { RedisConnection } from './connection';
import type { Keyspace } from './keyspace';

export class Settings {
  constructor(
    private readonly redis: RedisConnection,
    private readonly keyspace: Keyspace,
  ) {}

  async read(): Promise<TenantSettings> {
    const json = await this.redis.get(this.keyspace.settings);
    return json === null
      ? DEFAULT_SETTINGS
      : { ...DEFAULT_SETTINGS, ...(JSON.parse(json) as Partial<TenantSettings>) };
  }

  async write(settings: TenantSettings): Promise<void> {
    await this.redis.set(this.keyspace.settings, JSON.stringify(settings));
  }
}
