import { ApiKeys } from './api-keys';
import { AuditedEvents } from './audited-events';
import { Blobs } from './blobs';
import { Calls } from './calls';
import { openChangeFeed, type ChangeFeed } from './change-feed';
import { connectRedis } from './connection';
import { Deliveries } from './deliveries';
import { Dispatches } from './dispatches';
import { Events } from './events';
import { HookKeys } from './hook-keys';
import { keyspaceOf } from './keyspace';
import { OpenCalls } from './open-calls';
import { PendingCalls } from './pending-calls';
import { Profiles } from './profiles';
import { Settings } from './settings';
import { Threads } from './threads';
import { Turns } from './turns';
import { Waits } from './waits';

/** Everything that is stored for one tenant. */
export interface TenantStore {
  readonly tenant: string;
  readonly apiKeys: ApiKeys;
  readonly blobs: Blobs;
  readonly calls: Calls;
  readonly changes: ChangeFeed;
  readonly deliveries: Deliveries;
  readonly dispatches: Dispatches;
  readonly events: Events;
  readonly hookKeys: HookKeys;
  readonly openCalls: OpenCalls;
  readonly pendingCalls: PendingCalls;
  readonly profiles: Profiles;
  readonly settings: Settings;
  readonly threads: Threads;
  readonly turns: Turns;
  readonly waits: Waits;
  /** Rejects while the store cannot be written to. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export async function openTenantStore(options: {
  tenant: string;
  url: string;
  onError: (error: Error) => void;
  /** Default 5,000. */
  commandTimeoutMs?: number;
  /** Values of the tenant's named secrets, which no event may show. Default: there are none. */
  knownSecrets?: () => Promise<readonly string[]>;
}): Promise<TenantStore> {
  const keyspace = keyspaceOf(options.tenant);
  const redis = await connectRedis(options.url, options);
  const changes = await openChangeFeed(redis, keyspace, options.onError);
  const blobs = new Blobs(redis, keyspace);
  const settings = new Settings(redis, keyspace);
  const knownSecrets = options.knownSecrets ?? (() => Promise.resolve([]));
  const audited = new AuditedEvents(blobs, settings, knownSecrets);
  return {
    tenant: options.tenant,
    apiKeys: new ApiKeys(redis, keyspace),
    blobs,
    calls: new Calls(redis, keyspace, audited),
    changes,
    deliveries: new Deliveries(redis, keyspace),
    dispatches: new Dispatches(redis, keyspace, audited),
    events: new Events(redis, keyspace),
    hookKeys: new HookKeys(redis, keyspace),
    openCalls: new OpenCalls(redis, keyspace),
    pendingCalls: new PendingCalls(redis, keyspace),
    profiles: new Profiles(redis, keyspace),
    settings,
    threads: new Threads(redis, keyspace),
    turns: new Turns(redis, keyspace, audited),
    waits: new Waits(redis, keyspace),
    ping: async () => {
      // A write, because a store that only reads cannot record a decision.
      await redis.set(keyspace.ping, '1', { expiration: { type: 'EX', value: 60 } });
    },
    close: async () => {
      await changes.close();
      await redis.close();
    },
  };
}
