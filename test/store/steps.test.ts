import { randomUUID } from 'node:crypto';
import type { JsonValue } from '../../src/domain/json-value';
import { openCall } from '../../src/domain/call-machine';
import type { TenantStore } from '../../src/store/tenant-store';
import {
  answered,
  cancelled,
  dumpOf,
  eventTypes,
  gate,
  newTenant,
  newThread,
  NOW,
  openRedis,
  openStore,
  park,
  startIn,
  type Redis,
} from './fixtures';

const tenant = newTenant();
let store: TenantStore;
let redis: Redis;
beforeAll(async () => {
  [store, redis] = await Promise.all([openStore(tenant), openRedis()]);
});
afterAll(() => Promise.all([store.close(), redis.close()]));

test('T1: a step that is sent fifty times at once over five connections is applied once', async () => {
  const start = startIn(await newThread(store));
  const step = openCall(start, NOW);
  const stores = await Promise.all(Array.from({ length: 5 }, () => openStore(tenant)));
  const results = await Promise.all(
    Array.from({ length: 50 }, (_, index) => stores[index % 5]!.calls.commit(step, { start })),
  );
  await Promise.all(stores.map((each) => each.close()));
  expect(results.filter(({ kind }) => kind === 'applied')).toHaveLength(1);
  expect(results.filter(({ kind }) => kind === 'taken')).toHaveLength(49);
  expect(await eventTypes(store, start.threadId)).toEqual([
    'thread_created',
    'tool_call_started',
    'wait_opened',
  ]);
  expect(await store.threads.listOpenCalls(start.threadId)).toEqual([start.callId]);
  expect(await store.threads.readOpenWork(start.threadId)).toEqual({
    openCalls: 1,
    openWaits: [`${start.callId}-w1`],
  });
});

test('T1, T4: of two different steps with one number the first stands, and the second is given its state', async () => {
  const { start, opened } = await park(store, await newThread(store));
  const before = await dumpOf(redis, tenant);
  const other = openCall(start, NOW + 1_000);
  expect(await store.calls.commit(other, { start })).toEqual({ kind: 'taken', state: opened.state });
  expect(await dumpOf(redis, tenant)).toBe(before);
});

test('T1: fifty different steps for one number: one is stored whole, and everybody is told which', async () => {
  const { start, opened } = await park(store, await newThread(store));
  const steps = Array.from({ length: 50 }, (_, index) =>
    answered(start, opened.state, `p${index}`, { decision: index % 2 === 0 ? 'allow' : 'deny' }),
  );
  const results = await Promise.all(steps.map((step) => store.calls.commit(step)));
  const winner = results.findIndex(({ kind }) => kind === 'applied');
  const state = steps[winner]?.state;
  const others = results.filter((_, index) => index !== winner);
  expect(others).toEqual(others.map(() => ({ kind: 'taken', state })));
  expect((await store.calls.read(start.callId))?.state).toEqual(state);
  expect(await store.waits.read(`${start.callId}-w1`)).toEqual(state?.wait);
  const resolved = (await store.events.ofThread(start.threadId, { limit: 100 })).items.filter(
    ({ type }) => type === 'wait_resolved',
  );
  expect(resolved.map(({ data }) => data)).toMatchObject([{ by: [`p${winner}`] }]);
});

test('T1: a step that is older than the stored one changes nothing and gets the newest state', async () => {
  const { start, opened } = await park(store, await newThread(store));
  const next = cancelled(start, opened.state);
  await store.calls.commit(next);
  expect(await store.calls.commit(opened, { start })).toEqual({ kind: 'taken', state: next.state });
});

test('a step is stored with the call’s arguments, its generation and its place in the thread', async () => {
  const threadId = await newThread(store);
  const first = await park(store, threadId);
  const second = await park(store, threadId);
  const read = await store.calls.read(first.start.callId);
  expect(read).toEqual({ state: first.opened.state, start: first.start, generation: '1' });
  await store.calls.commit(cancelled(first.start, first.opened.state));
  expect(await store.calls.read(first.start.callId)).toMatchObject({ start: first.start, generation: '2' });
  expect(await store.calls.list(threadId, { limit: 10 })).toEqual({
    items: [first.start.callId, second.start.callId],
  });
  expect(await store.threads.listOpenCalls(threadId)).toEqual([second.start.callId]);
  expect(await store.calls.read(randomUUID())).toBeUndefined();
});

test('ifGeneration: a writer beside the workflow is refused when the call has changed, and only then', async () => {
  const { start, opened } = await park(store, await newThread(store), [gate('gate', 2)]);
  const seen = (await store.calls.read(start.callId))?.generation ?? '';
  const vote = answered(start, opened.state, 'ann', {
    decision: 'allow',
    subjectDigest: start.subject.digest,
  });
  await store.calls.commit(vote);
  const late = cancelled(start, vote.state);
  const before = await dumpOf(redis, tenant);
  expect(await store.calls.commit(late, { ifGeneration: seen })).toEqual({ kind: 'changed' });
  expect(await dumpOf(redis, tenant)).toBe(before);
  const now = (await store.calls.read(start.callId))?.generation ?? '';
  expect(await store.calls.commit(late, { ifGeneration: now })).toEqual({ kind: 'applied' });
});

test('a closed thread takes no first step and leaves no trace of it; what runs in it goes on', async () => {
  const threadId = await newThread(store);
  const { start, opened } = await park(store, threadId);
  expect(await store.threads.close(threadId, { by: 'x', at: new Date(NOW).toISOString() })).toBe('closed');
  const late = startIn(threadId);
  const before = await dumpOf(redis, tenant);
  const refused = await store.calls.commit(openCall(late, NOW), { start: late, onlyIfThreadOpen: true });
  expect(refused).toEqual({ kind: 'thread_closed' });
  expect(await dumpOf(redis, tenant)).toBe(before);
  expect(await store.calls.commit(cancelled(start, opened.state))).toEqual({ kind: 'applied' });
  expect(await store.threads.close(threadId, { by: 'x', at: '' })).toBe('closed_before');
  expect(await store.threads.close(randomUUID(), { by: 'x', at: '' })).toBe('unknown');
});

test('of a close and a first step that race, the thread is closed before it or knows the call', async () => {
  for (let round = 0; round < 20; round += 1) {
    const start = startIn(await newThread(store));
    const [result] = await Promise.all([
      store.calls.commit(openCall(start, NOW), { start, onlyIfThreadOpen: true }),
      store.threads.close(start.threadId, { by: 'x', at: '' }),
    ]);
    const open = await store.threads.listOpenCalls(start.threadId);
    expect(open).toEqual(result.kind === 'applied' ? [start.callId] : []);
  }
});

const HARD: JsonValue[] = [
  [],
  {},
  [[], {}, [[]]],
  JSON.parse('{"__proto__":{"x":[]},"constructor":{},"toString":null,"":0}') as JsonValue,
  [0.1234567890123456, 1e-300, 9007199254740991, -9007199254740991, 123456789012345.6, -0.5],
  'quote " backslash \\ null \u0000 newline \n separator \u2028 emoji 😀 é e\u0301',
  [null, false, 0, ''],
  { 'a:b': '}:{', "'": ']]', nil: 'nil', '%s': '%d' },
];

test.each(HARD)('the value %j passes the scripts byte for byte', async (value) => {
  const start = startIn(await newThread(store), [gate()], value);
  const opened = openCall(start, NOW);
  await store.calls.commit(opened, { start });
  const read = await store.calls.read(start.callId);
  expect(JSON.stringify(read?.state)).toBe(JSON.stringify(opened.state));
  expect(JSON.stringify(read?.start)).toBe(JSON.stringify(start));
  expect(JSON.stringify(await store.waits.read(`${start.callId}-w1`))).toBe(JSON.stringify(opened.waits[0]));
  expect(await store.calls.commit(opened)).toEqual({ kind: 'taken', state: opened.state });
});

test('a call whose start was not confirmed is found by its age until it is confirmed or goes on', async () => {
  const threadId = await newThread(store);
  const calls = Array.from({ length: 3 }, (_, index) => ({ start: startIn(threadId, []), now: NOW + index }));
  for (const { start, now } of calls) {
    await store.calls.commit(openCall(start, now), { start, unstarted: true });
  }
  const [first, second, third] = calls.map(({ start }) => start.callId);
  expect(await store.calls.listUnstarted(NOW + 1, 10)).toEqual([first, second]);
  expect(await store.calls.listUnstarted(NOW + 9, 1)).toEqual([first]);
  await store.calls.confirmStarted(first ?? '');
  const { state } = openCall(calls[1]?.start ?? startIn(threadId), NOW + 1);
  await store.calls.commit(cancelled(calls[1]?.start ?? startIn(threadId), state));
  expect(await store.calls.listUnstarted(NOW + 9, 10)).toEqual([third]);
});
