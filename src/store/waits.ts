import type { StoredWait } from '../domain/stored-wait';
import type { RedisConnection } from './connection';
import type { Keyspace } from './keyspace';
import { pageByScore, type Page, type PageRequest } from './page';

export class Waits {
  constructor(
    private readonly redis: RedisConnection,
    private readonly keyspace: Keyspace,
  ) {}

  /** Open or closed: a closed wait stays readable, so that a late resolver is told what became of it. */
  async read(waitId: string): Promise<StoredWait | undefined> {
    const json = await this.redis.hGet(this.keyspace.wait(waitId), 'json');
    return json === null ? undefined : (JSON.parse(json) as StoredWait);
  }

  /** Reads several; those that do not exist are left out. */
  async readAll(waitIds: readonly string[]): Promise<StoredWait[]> {
    const found = await Promise.all(waitIds.map((id) => this.read(id)));
    return found.filter((wait) => wait !== undefined);
  }

  /** Open waits of the tenant, oldest first. */
  listOpen(page: PageRequest): Promise<Page<string>> {
    return pageByScore(this.redis, this.keyspace.waits, page);
  }
}
