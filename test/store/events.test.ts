import type { EventDraft } from '../../src/domain/audit';
import { reportResult } from '../../src/domain/call-machine';
import { openCall } from '../../src/domain/call-machine';
import type { TenantStore } from '../../src/store/tenant-store';
import {
  answered,
  AT,
  cancelled,
  everyPage,
  newTenant,
  newThread,
  NOW,
  openStore,
  park,
  startIn,
  stepOf,
} from './fixtures';

let store: TenantStore;
beforeEach(async () => {
  store = await openStore(newTenant());
});
afterEach(() => store.close());

test('events of a thread are numbered from 1 without gaps, however many calls write at once', async () => {
  const threadId = await newThread(store);
  const calls = await Promise.all(Array.from({ length: 20 }, () => park(store, threadId)));
  await Promise.all(calls.map(({ start, opened }) => store.calls.commit(cancelled(start, opened.state))));
  const events = await everyPage((page) => store.events.ofThread(threadId, page), 7);
  expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 1 + 20 * 5 }, (_, index) => index + 1));
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
});

test('the events of a step are stored as they were drafted, in their order', async () => {
  const threadId = await newThread(store);
  const { start, opened } = await park(store, threadId);
  const step = answered(start, opened.state, 'ann', { decision: 'deny', reason: '[] {} "é" \u0000' });
  await store.calls.commit(step);
  const events = await everyPage((page) => store.events.ofThread(threadId, page), 100);
  expect(events.slice(1).map(({ type, data }) => ({ type, data }))).toEqual([
    ...opened.events.map(asStored),
    ...step.events.map(asStored),
  ]);
  expect(events.slice(1).map(({ id, at }) => [id, at])).toEqual([
    ...opened.events.map((_, index) => [`${start.callId}:1:${index + 1}`, opened.at]),
    ...step.events.map((_, index) => [`${start.callId}:2:${index + 1}`, step.at]),
  ]);
});

/** The tenant's default setting shows values, after redaction. */
function asStored({ type, data, shows }: EventDraft): object {
  return { type, data: shows?.kind === 'inline' ? { ...data, value: shows.value } : data };
}

test('the audit holds every event of every thread, and of none, in the order in which they were stored', async () => {
  const threads = [await newThread(store), await newThread(store)];
  for (const threadId of [...threads, ...threads]) {
    const { start, opened } = await park(store, threadId);
    await store.calls.commit(cancelled(start, opened.state));
  }
  for (const threadId of threads) await store.threads.close(threadId, { by: 'x', at: AT });
  const audit = await everyPage((page) => store.events.audit(page), 6);
  expect(audit.filter((entry) => entry.threadId === undefined).map(({ event }) => event.type)).toEqual([
    'profile_changed',
    'profile_changed',
  ]);
  for (const threadId of threads) {
    const events = await everyPage((page) => store.events.ofThread(threadId, page), 100);
    expect(audit.filter((entry) => entry.threadId === threadId).map(({ event }) => event)).toEqual(events);
    expect(events.at(-1)).toMatchObject({ type: 'thread_closed', data: { by: 'x' } });
  }
  expect(new Set(audit.map(({ cursor }) => cursor)).size).toBe(audit.length);
});

test('evidence that comes after the end is stored once per content and changes no state', async () => {
  const start = startIn(await newThread(store), []);
  const opened = openCall(start, NOW);
  await store.calls.commit(opened, { start });
  await store.calls.commit(cancelled(start, opened.state));
  const before = await store.calls.read(start.callId);
  const finished = { callId: start.callId, result: 'output', digest: 'one', late: true } as const;
  const call = opened.call;
  await Promise.all(Array.from({ length: 10 }, () => store.calls.appendEvidence(call, finished, AT)));
  await store.calls.appendEvidence(call, { ...finished, digest: 'two' }, AT);
  const events = await everyPage((page) => store.events.ofThread(start.threadId, page), 100);
  expect(events.filter(({ type }) => type === 'tool_finished').map(({ data }) => data)).toEqual([
    finished,
    { ...finished, digest: 'two' },
  ]);
  expect(await store.calls.read(start.callId)).toEqual(before);
});

test('a call’s output is an event with its digest only', async () => {
  const start = startIn(await newThread(store), []);
  const opened = openCall(start, NOW);
  await store.calls.commit(opened, { start });
  const blob = { kind: 'blob', digest: 'd', blob: 'output' } as const;
  await store.calls.commit(
    stepOf(reportResult(start, opened.state, { input: { result: 'output', blob }, now: NOW })),
  );
  const { items } = await store.events.ofThread(start.threadId, { limit: 100, after: '2' });
  expect(items.map(({ type, data }) => ({ type, data }))).toEqual([
    { type: 'tool_finished', data: { callId: start.callId, result: 'output', digest: 'd' } },
    { type: 'tool_call_finished', data: { callId: start.callId, status: 'completed' } },
  ]);
});

test('of the tenant audit no more is kept than its retention says, by count and by age; threads keep their events', async () => {
  const threadId = await newThread(store);
  for (let n = 0; n < 5; n += 1) await park(store, threadId);
  const audit = () => everyPage((page) => store.events.audit(page), 50);
  const all = await audit();
  await store.events.trimAudit({}, Date.now());
  expect(await audit()).toEqual(all);
  await store.events.trimAudit({ auditDays: 1 }, Date.now());
  expect(await audit()).toEqual(all);

  await store.events.trimAudit({ auditEvents: 3 }, Date.now());
  expect(await audit()).toEqual(all.slice(-3));
  await store.events.trimAudit({ auditDays: 1 }, Date.now() + 86_400_000 + 60_000);
  expect(await audit()).toEqual([]);
  const kept = await everyPage((page) => store.events.ofThread(threadId, page), 50);
  expect(kept).toHaveLength(all.filter((entry) => entry.threadId === threadId).length);
  expect(kept.length).toBeGreaterThan(5);
});
