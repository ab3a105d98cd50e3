import { restate } from '../../src/domain/call-machine';
import type { TenantStore } from '../../src/store/tenant-store';
import {
  dumpOf,
  eventTypes,
  loseTenant,
  newTenant,
  newThread,
  openRedis,
  openStore,
  park,
  type Redis,
} from './fixtures';

let store: TenantStore;
let redis: Redis;
beforeAll(async () => {
  [store, redis] = await Promise.all([openStore(newTenant()), openRedis()]);
});
afterAll(() => Promise.all([store.close(), redis.close()]));

test('a store that lost everything gets a call, its thread and its wait back, without an event made up', async () => {
  const threadId = await newThread(store);
  const { start, opened, waitId } = await park(store, threadId);
  await loseTenant(redis, store.tenant);
  await store.calls.commit(restate(start, opened.state), { start });
  expect((await store.calls.read(start.callId))?.state).toEqual(opened.state);
  expect((await store.threads.readOpenWork(threadId)).openWaits).toEqual([waitId]);
  expect((await store.threads.list({ limit: 10 }, 'waiting')).items).toEqual([threadId]);
  expect((await store.waits.listOpen({ limit: 10 })).items).toEqual([waitId]);
  expect(await eventTypes(store, threadId)).toEqual([]);
});

test('a blob vanishes by itself until a step of its call refers to it', async () => {
  const threadId = await newThread(store);
  const { start, opened } = await park(store, threadId);
  await store.blobs.write(start.callId, 'kept', [1]);
  await store.blobs.write(start.callId, 'dropped', [2]);
  await store.calls.commit({
    ...opened,
    n: 2,
    state: { ...opened.state, n: 2 },
    events: [],
    keepBlobs: ['kept'],
  });
  const ttl = (name: string): Promise<number> =>
    redis.ttl(`pc:{${store.tenant}}:call:${start.callId}:blob:${name}`);
  expect(await ttl('kept')).toBe(-1);
  expect(await ttl('dropped')).toBeGreaterThan(0);
  const subject = { kind: 'blob' as const, digest: '-', blob: 'kept' };
  expect(await store.blobs.valueOf(start.callId, subject)).toEqual([1]);
});

test('a key is verified by its token; wrong, unknown and revoked ones are all unknown; only the hash is stored', async () => {
  const { key, token } = await store.apiKeys.create({ owner: 'o', scopes: ['calls'], createdAt: '' });
  expect(await store.apiKeys.verify(token)).toEqual(key);
  const wrong = token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A');
  expect(await store.apiKeys.verify(wrong)).toBeUndefined();
  expect(await store.apiKeys.verify('pk_x_y_z')).toBeUndefined();
  expect(await dumpOf(redis, store.tenant)).not.toContain(token.split('_').at(-1));
  expect(await store.apiKeys.delete(key.id)).toBe(true);
  expect(await store.apiKeys.verify(token)).toBeUndefined();
  expect(await store.apiKeys.delete(key.id)).toBe(false);
});
