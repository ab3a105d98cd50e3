import { openCall } from '../../src/domain/call-machine';
import type { TenantStore } from '../../src/store/tenant-store';
import { cancelled, newTenant, newThread, NOW, openStore, park, startIn, urlHook } from './fixtures';

let store: TenantStore;
beforeAll(async () => {
  store = await openStore(newTenant());
});
afterAll(() => store.close());

/** Whether a listener is woken by this, and not by its own time-out. */
async function wakes(
  listener: { next(ms: number): Promise<void>; stop(): void },
  work: () => Promise<unknown>,
): Promise<boolean> {
  let woken = false;
  const next = listener.next(1_000).then(() => {
    woken = true;
  });
  await work();
  await new Promise((resolve) => setTimeout(resolve, 100));
  const before = woken;
  await next;
  listener.stop();
  return before;
}

test('a step wakes who listens to its call, its thread or the tenant, and nobody who listens to another call', async () => {
  const threadId = await newThread(store);
  const other = startIn(threadId);
  for (const [listener, expected] of [
    [store.changes.listen(), true],
    [store.changes.listen(threadId), true],
    [store.changes.listenToCall(other.callId, 'every step'), false],
  ] as const) {
    const start = startIn(threadId);
    expect(await wakes(listener, () => store.calls.commit(openCall(start, NOW), { start }))).toBe(expected);
  }
  const start = startIn(threadId);
  const own = store.changes.listenToCall(start.callId, 'every step');
  expect(await wakes(own, () => store.calls.commit(openCall(start, NOW), { start }))).toBe(true);
});

test('who waits for the outcome of a call is woken when it is parked, allowed or ended, and not while a hook is asked', async () => {
  const threadId = await newThread(store);
  const parked = startIn(threadId);
  const forParked = store.changes.listenToCall(parked.callId, 'settled');
  expect(await wakes(forParked, () => store.calls.commit(openCall(parked, NOW), { start: parked }))).toBe(
    true,
  );

  const asked = startIn(threadId, [urlHook()]);
  const due = openCall(asked, NOW);
  expect(due.state.due).toBe(true);
  const forAsked = store.changes.listenToCall(asked.callId, 'settled');
  expect(await wakes(forAsked, () => store.calls.commit(due, { start: asked }))).toBe(false);

  const { start, opened } = await park(store, threadId);
  const forEnded = store.changes.listenToCall(start.callId, 'settled');
  expect(await wakes(forEnded, () => store.calls.commit(cancelled(start, opened.state)))).toBe(true);
});
