import { reconcileTenant, type CallWorkflows } from '../../src/activities/reconcile-tenant';
import { openCall } from '../../src/domain/call-machine';
import { TenantStores } from '../../src/store/tenant-stores';
import { newTenant, newThread, NOW, openStore, startIn } from '../store/fixtures';

/** Of Temporal only the listing is played here: 2,500 real workflows would take minutes. The other rules are tried on real ones in test/faults. */
const noTurns = { stateOf: () => Promise.resolve('unknown' as const), start: () => Promise.resolve() };

test('each of 2,500 running workflows is looked at, and the one that the store lost is asked to catch up', async () => {
  const store = await openStore(newTenant());
  const threadId = await newThread(store);
  const starts = Array.from({ length: 2_500 }, () => startIn(threadId));
  for (let from = 0; from < starts.length; from += 250) {
    await Promise.all(
      starts.slice(from, from + 250).map((start) => store.calls.commit(openCall(start, NOW), { start })),
    );
  }
  const asked: string[] = [];
  const workflows: CallWorkflows = {
    stateOf: async () => 'running',
    start: async () => undefined,
    catchUp: async (_, callId) => void asked.push(callId),
    giveUp: async () => undefined,
    async *listBroken() {},
    async *listRunning() {
      yield* starts.map(({ callId }) => callId);
      yield 'a-call-that-the-store-lost';
    },
  };
  // Before any deadline, so that nothing else is asked.
  await reconcileTenant(
    { stores: new TenantStores([store]), workflows, turnWorkflows: noTurns },
    { tenant: store.tenant, now: NOW + 1, onProgress: () => undefined },
  );
  expect(asked).toEqual(['a-call-that-the-store-lost']);
  await store.close();
});
