import { listen } from '../../src/server/http/listen';
import { createNexusApp } from '../../src/server/nexus/nexus-app';
import { openTenantStore } from '../../src/store/tenant-store';
import { TenantStores } from '../../src/store/tenant-stores';
import { testServices } from '../support/services';
import { clientOf } from './client';
import { openWay } from './cuttable-way';
import { silent, startNexus, stopNexus } from './fixture';

afterEach(stopNexus);

test('readiness names what failed and nothing else about it', async () => {
  const nexus = await startNexus({
    checks: [
      { name: 'store', check: () => Promise.resolve() },
      { name: 'temporal', check: () => Promise.reject(new Error('connect 10.1.2.3:7233 password=x')) },
    ],
  });
  const { status, headers, body } = await nexus.client(undefined).get('/readyz');
  expect(status).toBe(503);
  expect(headers.get('Content-Type')).toBe('application/problem+json');
  expect(body).toMatchObject({ type: '/problems/unavailable', failed: ['temporal'] });
  expect(JSON.stringify(body)).not.toMatch(/10\.1\.2\.3|password/);
  expect((await nexus.client(undefined).get('/healthz')).body).toEqual({ status: 'ok' });
});

test('a check that hangs fails after two seconds', async () => {
  const nexus = await startNexus({ checks: [{ name: 'temporal', check: () => new Promise(() => {}) }] });
  const before = Date.now();
  expect((await nexus.client(undefined).get('/readyz')).status).toBe(503);
  expect(Date.now() - before).toBeLessThan(4_000);
});

test('everything that answers is ready', async () => {
  const nexus = await startNexus({ checks: [{ name: 'store', check: () => Promise.resolve() }] });
  expect((await nexus.client(undefined).get('/readyz')).body).toEqual({
    status: 'ready',
    checks: ['store'],
  });
});

test('the document shows every route and names the shapes', async () => {
  const nexus = await startNexus();
  const { body } = await nexus
    .client(undefined)
    .get<{ paths: object; components: { schemas: object } }>('/openapi.json');
  expect(Object.keys(body.paths)).toEqual(
    expect.arrayContaining([
      '/v1/profiles',
      '/v1/profiles/{profileId}',
      '/v1/profiles/{profileId}/hooks/{hookId}',
      '/v1/profiles/{profileId}/defaults/upgrade',
      '/v1/default-hooks',
      '/v1/keys',
      '/v1/settings',
      '/v1/threads',
      '/v1/threads/{threadId}/events',
      '/v1/waits',
      '/v1/audit',
      '/openapi.json',
      '/healthz',
      '/readyz',
    ]),
  );
  expect(Object.keys(body.components.schemas)).toEqual(
    expect.arrayContaining(['Profile', 'Hook', 'Thread', 'Wait', 'Event', 'Key', 'Settings', 'Problem']),
  );
});

test('while the store is away requests are 503, and are served again when it is back', async () => {
  const url = new URL(testServices().redisUrl);
  const way = await openWay(new URL(url));
  url.port = String(way.port);
  const store = await openTenantStore({ tenant: 'outage', url: url.href, onError: () => undefined });
  const stores = new TenantStores([store]);
  const server = await listen(
    createNexusApp({ stores, extraRoutes: [], development: false, logger: silent, checks: [] }),
    {
      port: 0,
      host: '127.0.0.1',
    },
  );
  const createdAt = new Date().toISOString();
  const { token } = await store.apiKeys.create({ owner: 'a', scopes: ['admin'], createdAt });
  const client = clientOf(server.url, token);
  expect((await client.get('/v1/settings')).status).toBe(200);
  await way.stop();
  const away = await client.get('/v1/settings');
  expect(away.status).toBe(503);
  expect(away.headers.get('Retry-After')).toBe('1');
  await way.start();
  await expect(eventually(async () => (await client.get('/v1/settings')).status)).resolves.toBe(200);
  await server.close(0);
  await store.close();
  await way.stop();
});

test('a store that hangs is 503 as well, and nobody waits for ever', async () => {
  const url = new URL(testServices().redisUrl);
  const way = await openWay(new URL(url));
  url.port = String(way.port);
  const options = { tenant: 'hanging', url: url.href, onError: () => undefined, commandTimeoutMs: 300 };
  const store = await openTenantStore(options);
  const stores = new TenantStores([store]);
  const server = await listen(
    createNexusApp({ stores, extraRoutes: [], development: false, logger: silent, checks: [] }),
    {
      port: 0,
      host: '127.0.0.1',
    },
  );
  const createdAt = new Date().toISOString();
  const { token } = await store.apiKeys.create({ owner: 'a', scopes: ['admin'], createdAt });
  way.hang();
  const hanging = await clientOf(server.url, token).get('/v1/settings');
  expect(hanging.status).toBe(503);
  await server.close(0);
  await way.stop();
  await store.close().catch(() => undefined);
});

async function eventually(status: () => Promise<number>): Promise<number> {
  for (let tries = 0; ; tries += 1) {
    const found = await status();
    if (found === 200 || tries === 50) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
