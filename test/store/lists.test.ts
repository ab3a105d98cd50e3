import { openCall } from '../../src/domain/call-machine';
import { isOpen } from '../../src/domain/call';
import type { TenantStore } from '../../src/store/tenant-store';
import {
  answered,
  cancelled,
  everyPage,
  gate,
  newTenant,
  newThread,
  NOW,
  openStore,
  park,
  startIn,
} from './fixtures';

let store: TenantStore;
beforeAll(async () => {
  store = await openStore(newTenant());
});
afterAll(() => store.close());

/** Whether each of the three places that list waits shows this one, or its thread. */
async function listed(threadId: string, waitId: string): Promise<boolean[]> {
  return [
    (await store.threads.readOpenWork(threadId)).openWaits.includes(waitId),
    (await everyPage((page) => store.threads.list(page, 'waiting'), 50)).includes(threadId),
    (await everyPage((page) => store.waits.listOpen(page), 50)).includes(waitId),
  ];
}

const EVERYWHERE = [true, true, true];
const NOWHERE = [false, false, false];

test('a wait is in every list while it is open and in none afterwards, but stays readable', async () => {
  const { start, opened, waitId } = await park(store, await newThread(store));
  expect(await listed(start.threadId, waitId)).toEqual(EVERYWHERE);
  expect(await store.waits.read(waitId)).toEqual(opened.state.wait);
  const step = answered(start, opened.state, 'ann', { decision: 'deny' });
  await store.calls.commit(step);
  expect(await listed(start.threadId, waitId)).toEqual(NOWHERE);
  expect(await store.waits.read(waitId)).toEqual(step.state.wait);
});

test('a vote leaves its wait listed, and in its place', async () => {
  const threadId = await newThread(store);
  const first = await park(store, threadId, [gate('gate', 2)]);
  const second = await park(store, threadId);
  const seen = first.start.subject.digest;
  const vote = answered(first.start, first.opened.state, 'ann', { decision: 'allow', subjectDigest: seen });
  await store.calls.commit(vote);
  expect(await listed(threadId, first.waitId)).toEqual(EVERYWHERE);
  const order = await everyPage((page) => store.waits.listOpen(page), 50);
  expect(order.indexOf(first.waitId)).toBe(order.indexOf(second.waitId) - 1);
  expect(await store.waits.readAll([first.waitId, 'unknown', second.waitId])).toEqual([
    vote.state.wait,
    second.opened.state.wait,
  ]);
});

test('a step that closes one wait and opens the next never leaves its thread out of the waiting ones', async () => {
  const { start, opened, waitId } = await park(store, await newThread(store), [gate('one'), gate('two')]);
  const step = answered(start, opened.state, 'ann', { decision: 'defer' });
  expect(step.waits.map(({ wait }) => wait.id)).toEqual([waitId, `${start.callId}-w2`]);
  await store.calls.commit(step);
  expect(await listed(start.threadId, waitId)).toEqual([false, true, false]);
  expect(await listed(start.threadId, `${start.callId}-w2`)).toEqual(EVERYWHERE);
});

test('a thread leaves the waiting ones with its last wait, not with its first', async () => {
  const threadId = await newThread(store);
  const [first, second] = [await park(store, threadId), await park(store, threadId)];
  await store.calls.commit(cancelled(first.start, first.opened.state));
  expect(await listed(threadId, first.waitId)).toEqual([false, true, false]);
  await store.calls.commit(cancelled(second.start, second.opened.state));
  expect(await listed(threadId, second.waitId)).toEqual(NOWHERE);
});

test('a wait that opens and closes between two looks is listed again by nothing: a repeated step changes nothing', async () => {
  const { start, opened, waitId } = await park(store, await newThread(store));
  await store.calls.commit(cancelled(start, opened.state));
  await store.calls.commit(opened, { start });
  expect(await listed(start.threadId, waitId)).toEqual(NOWHERE);
});

test('the sweep over open calls gives every call its turn, a few at a time, and forgets those that ended', async () => {
  const own = await openStore(newTenant());
  const threadId = await newThread(own);
  const parked = [];
  for (let index = 0; index < 7; index += 1) parked.push(await park(own, threadId));
  const allowed = startIn(threadId, []);
  await own.calls.commit(openCall(allowed, NOW), { start: allowed });
  const ended = parked.pop();
  if (ended === undefined) throw new Error('seven were parked');
  const end = cancelled(ended.start, ended.opened.state);
  expect(isOpen(end.call.status)).toBe(false);
  await own.calls.commit(end);
  const swept: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    const turn = [];
    for await (const callId of own.openCalls.sweep(3, 2)) turn.push(callId);
    expect(turn.length).toBeLessThanOrEqual(3);
    swept.push(...turn);
  }
  const open = [...parked.map(({ start }) => start.callId), allowed.callId].sort();
  expect(swept).toEqual(open);
  const again = [];
  for await (const callId of own.openCalls.sweep(100, 2)) again.push(callId);
  expect(again).toEqual(open);
  await own.close();
});

test('a profile that is gone takes no new thread, and one thread is made once', async () => {
  const id = await newThread(store);
  await expect(newThread(store, id)).rejects.toThrow('exists already');
  const thread = { id: 'x', profileId: 'unknown', owner: 'o', metadata: {}, createdAt: '' };
  expect(await store.threads.create(thread)).toBe('no_profile');
  expect(await store.threads.read('x')).toBeUndefined();
});

test('a thread is listed among all and among its owner’s, and keeps its metadata', async () => {
  const id = await newThread(store, undefined, 'olga');
  expect((await everyPage((page) => store.threads.list(page, 'all'), 50)).includes(id)).toBe(true);
  expect(await store.threads.list({ limit: 5 }, { owner: 'olga' })).toEqual({ items: [id] });
  expect(await store.threads.list({ limit: 5 }, { owner: 'Olga' })).toEqual({ items: [] });
  expect((await store.threads.read(id))?.thread).toMatchObject({ owner: 'olga', metadata: { of: id } });
});
