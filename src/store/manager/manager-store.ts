import { ApiKeys } from '../api-keys';
import { connectRedis, type RedisConnection } from '../connection';
import { keyspaceOf } from '../keyspace';
import { redisScript, runScript, stringsOf } from '../redis-script';
import type { ChatRecord, IngressEvent, ManagedTenant, TenantHookKey, WorkspaceRecord } from './records';

/** Where Manager's keys stand, unless it has another name: as those of a tenant of this name would. */
const DEFAULT_NAME = 'manager';

/** How long a chat is remembered after its last event, in seconds. */
const CHAT_S = 90 * 86_400;

/** Events that are kept, about. */
const MOST_EVENTS = 100_000;

const PUT_TENANT = redisScript(`
local known = redis.call('HGET', KEYS[1], ARGV[1])
if ARGV[3] == 'new' and known then return {'exists'} end
if ARGV[3] ~= 'new' and known ~= ARGV[3] then return {'changed'} end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return {'written'}
`);

const PUT_WORKSPACE = redisScript(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return {'no_tenant'} end
local known = redis.call('HGET', KEYS[2], ARGV[2])
if known and cjson.decode(known).tenantId ~= ARGV[1] then return {'other_tenant'} end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
return {'written'}
`);

const NEW_KEY = redisScript(`
local generation = redis.call('HINCRBY', KEYS[1], 'last', 1)
redis.call('HSET', KEYS[1], tostring(generation), ARGV[1])
return {tostring(generation)}
`);

/** Everything that Manager keeps: tenants, which workspace is whose, chats, keys, and what came of events. */
export class ManagerStore {
  readonly keys: ApiKeys;

  private constructor(
    private readonly redis: RedisConnection,
    private readonly name: string,
  ) {
    this.keys = new ApiKeys(redis, keyspaceOf(name));
  }

  /** `name` tells several Managers on one Redis apart. */
  static async open(options: {
    url: string;
    onError: (error: Error) => void;
    name?: string;
  }): Promise<ManagerStore> {
    return new ManagerStore(await connectRedis(options.url, options), options.name ?? DEFAULT_NAME);
  }

  async readTenant(id: string): Promise<ManagedTenant | undefined> {
    return parsed(await this.redis.hGet(this.at('tenants'), id)) as ManagedTenant | undefined;
  }

  async listTenants(): Promise<ManagedTenant[]> {
    const all = Object.values(await this.redis.hGetAll(this.at('tenants')));
    return all
      .map((json) => JSON.parse(json) as ManagedTenant)
      .sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  /** @param before what it is to follow; absent: there must be none */
  async putTenant(tenant: ManagedTenant, before?: ManagedTenant): Promise<'written' | 'exists' | 'changed'> {
    const [result] = stringsOf(
      await runScript(this.redis, PUT_TENANT, {
        keys: [this.at('tenants')],
        arguments: [tenant.id, JSON.stringify(tenant), before === undefined ? 'new' : JSON.stringify(before)],
      }),
    );
    if (result === 'written' || result === 'exists' || result === 'changed') return result;
    throw new Error(`the script of tenants answered ${String(result)}`);
  }

  async readWorkspace(id: string): Promise<WorkspaceRecord | undefined> {
    return parsed(await this.redis.hGet(this.at('workspaces'), id)) as WorkspaceRecord | undefined;
  }

  /** `other_tenant`: the workspace is another tenant's, whose it stays until that one gives it up. */
  async putWorkspace(workspace: WorkspaceRecord): Promise<'written' | 'no_tenant' | 'other_tenant'> {
    const [result] = stringsOf(
      await runScript(this.redis, PUT_WORKSPACE, {
        keys: [this.at('tenants'), this.at('workspaces')],
        arguments: [workspace.tenantId, workspace.workspaceId, JSON.stringify(workspace)],
      }),
    );
    if (result === 'written' || result === 'no_tenant' || result === 'other_tenant') return result;
    throw new Error(`the script of workspaces answered ${String(result)}`);
  }

  async deleteWorkspace(id: string): Promise<void> {
    await this.redis.hDel(this.at('workspaces'), id);
  }

  async readChat(id: string): Promise<ChatRecord | undefined> {
    return parsed(await this.redis.get(this.at('chat', id))) as ChatRecord | undefined;
  }

  async rememberChat(id: string, chat: ChatRecord): Promise<void> {
    await this.redis.set(this.at('chat', id), JSON.stringify(chat), {
      expiration: { type: 'EX', value: CHAT_S },
    });
  }

  /** The key that events of a tenant are signed with. */
  async currentHookKey(tenantId: string): Promise<TenantHookKey | undefined> {
    const all = await this.redis.hGetAll(this.at('hook-keys', tenantId));
    const generations = Object.keys(all)
      .filter((name) => name !== 'last')
      .map(Number);
    if (generations.length === 0) return undefined;
    const generation = Math.max(...generations);
    return { generation, secret: all[String(generation)] ?? '' };
  }

  /** The next generation; the one before it goes on being accepted until it is retired. */
  async addHookKey(tenantId: string, secret: string): Promise<number> {
    const [generation = ''] = stringsOf(
      await runScript(this.redis, NEW_KEY, { keys: [this.at('hook-keys', tenantId)], arguments: [secret] }),
    );
    return Number(generation);
  }

  async retireHookKey(tenantId: string, generation: number): Promise<boolean> {
    return (await this.redis.hDel(this.at('hook-keys', tenantId), String(generation))) > 0;
  }

  /** Owners whose chats are nobody's: their events are answered with no objection. */
  async unmanagedOwners(): Promise<string[]> {
    return this.redis.sMembers(this.at('unmanaged-owners'));
  }

  async setUnmanagedOwners(owners: readonly string[]): Promise<void> {
    const transaction = this.redis.multi().del(this.at('unmanaged-owners'));
    if (owners.length > 0) transaction.sAdd(this.at('unmanaged-owners'), [...owners]);
    await transaction.exec();
  }

  async isUnmanagedOwner(ownerId: string): Promise<boolean> {
    return (await this.redis.sIsMember(this.at('unmanaged-owners'), ownerId)) === 1;
  }

  async note(event: IngressEvent): Promise<void> {
    await this.redis.xAdd(
      this.at('events'),
      '*',
      { at: new Date().toISOString(), data: JSON.stringify(event) },
      { TRIM: { strategy: 'MAXLEN', strategyModifier: '~', threshold: MOST_EVENTS } },
    );
  }

  /** The last events, newest first. */
  async lastEvents(limit: number): Promise<{ at: string; event: IngressEvent }[]> {
    const found = (await this.redis.xRevRange(this.at('events'), '+', '-', { COUNT: limit })) ?? [];
    return found.map(({ message }) => ({
      at: message['at'] ?? '',
      event: JSON.parse(message['data'] ?? '{}') as IngressEvent,
    }));
  }

  async ping(): Promise<void> {
    await this.redis.set(this.at('ping'), '1', { expiration: { type: 'EX', value: 60 } });
  }

  async close(): Promise<void> {
    await this.redis.close();
  }

  private at(...parts: string[]): string {
    return [`pc:{${this.name}}`, ...parts].join(':');
  }
}

function parsed(json: string | null): unknown {
  return json === null ? undefined : JSON.parse(json);
}
