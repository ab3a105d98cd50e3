import { randomUUID } from 'node:crypto';
import { inlineSubject } from '../../src/domain/subject';
import type { ToolCallStart } from '../../src/domain/tool-call';
import { cancelCall, openCall, restate } from '../../src/domain/tool-call-machine';
import { openTenantStore, type TenantStore } from '../../src/store/tenant-store';
import { testServices } from '../support/services';

let store: TenantStore;
beforeAll(async () => {
  const tenant = `t-${randomUUID().slice(0, 13)}`;
  store = await openTenantStore({ tenant, url: testServices().redisUrl, onError: () => undefined });
});
afterAll(() => store.close());

const hook = {
  id: 'gate',
  point: 'before_tool_call' as const,
  processor: { type: 'client' as const, asyncTimeoutMs: 60_000, minApprovals: 1, allowSelfApproval: false },
  onFailure: 'fail_closed' as const,
  mode: 'enforce' as const,
};

async function parked(value: unknown = 1): Promise<ToolCallStart> {
  const profileId = randomUUID();
  const at = new Date().toISOString();
  const configuration = { hooks: [hook], timeouts: { outputTimeoutMs: 60_000 } };
  await store.profiles.put(
    { id: profileId, name: 'p', configuration, version: 1, createdAt: at, updatedAt: at },
    { change: 'created', by: 'root' },
  );
  const threadId = randomUUID();
  await store.threads.create({ id: threadId, profileId, owner: 'agent', metadata: {}, createdAt: at });
  return {
    tenant: store.tenant,
    callId: randomUUID(),
    threadId,
    profile: { id: profileId, version: 1, hooks: [{ index: 0, hook }], timeouts: configuration.timeouts },
    tool: 't',
    execution: 'caller',
    subject: inlineSubject({ point: 'before_tool_call', tool: 't', value: value as never }),
    requestDigest: '-',
    requestedBy: { owner: 'agent', keyId: '-' },
    operatorSignal: true,
    createdAt: at,
    storedAsAllowed: false,
  };
}

const eventTypes = async (threadId: string): Promise<string[]> =>
  (await store.events.ofThread(threadId, { limit: 100 })).items.map(({ type }) => type);

test('T1: a step that is sent fifty times at once is applied once', async () => {
  const start = await parked();
  const step = openCall(start, Date.now());
  const results = await Promise.all(Array.from({ length: 50 }, () => store.calls.commit(step, { start })));
  expect(results.filter(({ kind }) => kind === 'applied')).toHaveLength(1);
  expect(results.filter(({ kind }) => kind === 'taken')).toHaveLength(49);
  expect(await eventTypes(start.threadId)).toEqual(['thread_created', 'tool_call_started', 'wait_opened']);
});

test('T1, T4: of two different steps with one number the first stands, and the second is given its state', async () => {
  const start = await parked();
  const first = openCall(start, 1_000);
  const second = openCall(start, 2_000);
  await store.calls.commit(first, { start });
  expect(await store.calls.commit(second, { start })).toEqual({ kind: 'taken', state: first.state });
  expect((await store.calls.read(start.callId))?.state).toEqual(first.state);
});

test('a wait is in every list while it is open and in none when it is closed', async () => {
  const start = await parked();
  const opened = openCall(start, Date.now());
  await store.calls.commit(opened, { start });
  const lists = async (): Promise<boolean[]> => [
    (await store.threads.read(start.threadId))?.openWaits.includes(`${start.callId}-w1`) ?? false,
    (await store.threads.list({ limit: 200 }, 'waiting')).items.includes(start.threadId),
    (await store.waits.listOpen({ limit: 200 })).items.includes(`${start.callId}-w1`),
  ];
  expect(await lists()).toEqual([true, true, true]);
  const cancelled = cancelCall(start, opened.state, {
    input: { by: 'x', code: 'call_cancelled' },
    now: Date.now(),
  });
  if (cancelled.kind !== 'step') throw new Error('it is a step');
  await store.calls.commit(cancelled.transition);
  expect(await lists()).toEqual([false, false, false]);
});

test('a closed thread takes no first step, and a changed call no step of another writer', async () => {
  const start = await parked();
  const step = openCall(start, Date.now());
  await store.calls.commit(step, { start });
  const cancelled = cancelCall(start, step.state, {
    input: { by: 'x', code: 'workflow_ended' },
    now: Date.now(),
  });
  if (cancelled.kind !== 'step') throw new Error('it is a step');
  expect((await store.calls.commit(cancelled.transition, { ifGeneration: '7' })).kind).toBe('changed');
  await store.threads.close(start.threadId, { by: 'x', at: new Date().toISOString() });
  const late = { ...start, callId: randomUUID() };
  const refused = await store.calls.commit(openCall(late, 1), { start: late, onlyIfThreadOpen: true });
  expect(refused.kind).toBe('thread_closed');
  expect(await store.calls.read(late.callId)).toBeUndefined();
});

test('values pass the scripts unchanged: empty lists and objects, odd names, long decimals', async () => {
  const value = JSON.parse(
    '{"a":[],"o":{},"__proto__":{"x":0.1234567890123456},"n":9007199254740991,"s":"\\u0000😀"}',
  );
  const start = await parked(value);
  await store.calls.commit(openCall(start, 1), { start });
  const read = await store.calls.read(start.callId);
  expect(JSON.stringify(read?.state.call.input)).toBe(JSON.stringify(start.subject));
});

test('a restated step restores a call that the store lost, and adds no event', async () => {
  const start = await parked();
  const state = openCall(start, Date.now()).state;
  await store.calls.commit(restate(state), { start });
  expect((await store.calls.read(start.callId))?.state).toEqual(state);
  expect((await store.threads.read(start.threadId))?.openWaits).toEqual([`${start.callId}-w1`]);
  expect(await eventTypes(start.threadId)).toEqual(['thread_created']);
});

test('a key is verified by its token, and unknown, wrong and revoked ones are all unknown', async () => {
  const { key, token } = await store.apiKeys.create({ owner: 'o', scopes: ['calls'], createdAt: '' });
  expect(await store.apiKeys.verify(token)).toEqual(key);
  const wrong = token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A');
  expect(await store.apiKeys.verify(wrong)).toBeUndefined();
  expect(await store.apiKeys.verify('pk_x_y_z')).toBeUndefined();
  await store.apiKeys.delete(key.id);
  expect(await store.apiKeys.verify(token)).toBeUndefined();
});

test('a listener that listens first and reads afterwards misses no change', async () => {
  const start = await parked();
  for (let round = 0; round < 50; round += 1) {
    const next = { ...start, callId: randomUUID() };
    const listener = store.changes.listen(start.threadId);
    const committing = store.calls.commit(openCall(next, 1), { start: next });
    while ((await store.calls.read(next.callId)) === undefined) await listener.next(2_000);
    listener.stop();
    await committing;
  }
});
