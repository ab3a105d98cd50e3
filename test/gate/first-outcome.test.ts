import { openCall } from '../../src/domain/call-machine';
import { firstOutcome } from '../../src/server/nexus/calls/first-outcome';
import type { Started } from '../../src/server/temporal';
import type { TenantStore } from '../../src/store/tenant-store';
import { newTenant, newThread, NOW, openStore, startIn, urlHook } from '../store/fixtures';

let store: TenantStore;
beforeAll(async () => {
  store = await openStore(newTenant());
});
afterAll(() => store.close());

const never = new Promise<Started>(() => undefined);
const later = <Value>(value: Value, ms: number): Promise<Value> =>
  new Promise((resolve) => setTimeout(() => resolve(value), ms));

test('a stored outcome is told although the workflow service never says that the task is over', async () => {
  const start = startIn(await newThread(store));
  const outcome = firstOutcome(store, start.callId, never);
  const opened = openCall(start, NOW);
  await store.calls.commit(opened, { start });
  expect(await outcome).toEqual({ state: opened.state });
});

test('without a stored outcome the word of the workflow service is the answer', async () => {
  const { callId } = startIn(await newThread(store));
  const unavailable: Started = { kind: 'unavailable', cause: new Error('away') };
  expect(await firstOutcome(store, callId, later(unavailable, 50))).toEqual({ decided: unavailable });
  await expect(firstOutcome(store, callId, Promise.reject(new Error('a fault')))).rejects.toThrow('a fault');
});

test('a call whose hook is still asked has no outcome yet', async () => {
  const start = startIn(await newThread(store), [urlHook()]);
  const started: Started = { kind: 'started' };
  const outcome = firstOutcome(store, start.callId, later(started, 300));
  const due = openCall(start, NOW);
  expect(due.state.due).toBe(true);
  await store.calls.commit(due, { start });
  expect(await outcome).toEqual({ decided: started });
});
