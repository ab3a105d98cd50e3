import { randomBytes } from 'node:crypto';
import { pino, type Logger } from 'pino';
import type { DefaultHookSet } from '../../src/domain/default-hooks';
import type { Scope } from '../../src/domain/principal';
import { listen, type Listening } from '../../src/server/http/listen';
import { createNexusApp, type NexusAppOptions } from '../../src/server/nexus/nexus-app';
import { openTenantStore, type TenantStore } from '../../src/store/tenant-store';
import { TenantStores } from '../../src/store/tenant-stores';
import { testServices } from '../support/services';
import { clientOf, type Client } from './client';

/** One Nexus with its own tenant on the run's real Redis. */
export interface Nexus {
  readonly url: string;
  readonly tenant: string;
  readonly store: TenantStore;
  /** A client with a new key; its owner is named after the first scope unless told. */
  key(scopes: Scope[], options?: { owner?: string; profileIds?: string[] }): Promise<Client>;
  client(token: string | undefined): Client;
}

export interface NexusOptions extends Partial<Pick<NexusAppOptions, 'checks' | 'limits'>> {
  readonly defaultHooks?: DefaultHookSet;
  /** Further tenants on the same server. */
  readonly others?: readonly TenantStore[];
}

const servers: Listening[] = [];
const stores: TenantStore[] = [];

export const silent: Logger = pino({ level: 'silent' });

export async function newTenant(): Promise<TenantStore> {
  const tenant = `t-${randomBytes(6).toString('hex')}`;
  const store = await openTenantStore({ tenant, url: testServices().redisUrl, onError: () => undefined });
  stores.push(store);
  return store;
}

export async function startNexus(options: NexusOptions = {}): Promise<Nexus> {
  const { others = [], checks = [], ...rest } = options;
  const store = await newTenant();
  const app = createNexusApp({
    stores: new TenantStores([store, ...others]),
    extraRoutes: [],
    development: true,
    logger: silent,
    checks,
    ...rest,
  });
  const server = await listen(app, { port: 0, host: '127.0.0.1' });
  servers.push(server);
  const { url } = server;
  return {
    url,
    tenant: store.tenant,
    store,
    client: (token) => clientOf(url, token),
    async key(scopes, { owner = scopes.join('+').replaceAll(':', '.'), profileIds } = {}) {
      const createdAt = new Date().toISOString();
      const wanted = { owner, scopes, createdAt, ...(profileIds !== undefined && { profileIds }) };
      const { token, key } = await store.apiKeys.create(wanted);
      return clientOf(url, token, key.id);
    },
  };
}

/** Ends what the tests of a file left open. */
export async function stopNexus(): Promise<void> {
  await Promise.all(servers.splice(0).map((server) => server.close(0)));
  await Promise.all(stores.splice(0).map((store) => store.close()));
}
