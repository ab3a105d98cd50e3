import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { openCall } from '../../src/domain/call-machine';
import type { TenantStore } from '../../src/store/tenant-store';
import { everyPage, newTenant, newThread, NOW, openStore, profileOf, startIn } from './fixtures';

let store: TenantStore;
beforeAll(async () => {
  store = await openStore(newTenant());
});
afterAll(() => store.close());

test('of twenty writers of one profile version one wins, and a deleted profile is gone but its last version', async () => {
  const id = randomUUID();
  await store.profiles.put(profileOf(id), { change: 'created', by: 'root' });
  const writes = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      store.profiles.put(profileOf(id, 2, `writer ${n}`), { change: 'updated', by: 'root' }),
    ),
  );
  expect(writes.filter((write) => write === 'written')).toHaveLength(1);
  expect(writes.filter((write) => write === 'stale')).toHaveLength(19);
  expect((await store.profiles.read(id))?.name).toBe(`writer ${writes.indexOf('written')}`);

  expect(await store.profiles.delete(profileOf(id, 3), 'root')).toBe('written');
  expect(await store.profiles.read(id)).toBeUndefined();
  expect((await store.profiles.readLast(id))?.version).toBe(3);
  expect(await store.profiles.put(profileOf(id, 4), { change: 'updated', by: 'root' })).toBe('gone');
});

test('pages of any size give every thread once and in order, also while others are added', async () => {
  const tenant = await openStore(newTenant());
  const ids = Array.from({ length: 23 }, (_, n) => `thread-${String(n).padStart(3, '0')}`);
  for (const id of ids) await newThread(tenant, id);
  let added = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 30 }), async (limit) => {
      // One thread before the pages already read and one among those still to come.
      let more = ['a', 'thread-022'].map((place) => `${place}-${limit}-${String(added++).padStart(5, '0')}`);
      const found = await everyPage(
        (page) => tenant.threads.list(page, 'all'),
        limit,
        async () => {
          for (const id of more) await newThread(tenant, id);
          more = [];
        },
      );
      const mine = found.filter((id) => ids.includes(id));
      expect(mine).toEqual(ids);
      expect(new Set(found).size).toBe(found.length);
    }),
    { numRuns: 15 },
  );
  await tenant.close();
});

test('two tenants on one server see nothing of each other', async () => {
  const other = await openStore(newTenant());
  const threadId = await newThread(store);
  expect(await other.threads.read(threadId)).toBeUndefined();
  expect((await other.threads.list({ limit: 10 }, 'all')).items).toEqual([]);
  const { token } = await store.apiKeys.create({ owner: 'o', scopes: ['admin'], createdAt: '' });
  expect(await other.apiKeys.verify(token)).toBeUndefined();
  await other.close();
});

test('a listener that listens first and reads afterwards misses no change, 200 times', async () => {
  const threadId = await newThread(store);
  for (let round = 0; round < 200; round += 1) {
    const start = startIn(threadId);
    const listener = store.changes.listen(threadId);
    const committing = store.calls.commit(openCall(start, NOW), { start });
    while ((await store.calls.read(start.callId)) === undefined) await listener.next(2_000);
    listener.stop();
    await committing;
  }
});

test('listening ends at the time-out and when it is given up', async () => {
  const listener = store.changes.listen('a-thread-where-nothing-happens');
  await listener.next(20);
  const gone = new AbortController();
  const next = listener.next(60_000, gone.signal);
  gone.abort();
  await next;
  listener.stop();
});
