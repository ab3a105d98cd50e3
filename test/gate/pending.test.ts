import { callWorkflowId } from '../../src/domain/call';
import { startReceiver, type Receiver } from '../support/receiver';
import { Scene } from '../support/scene';
import { startStack, type Stack } from '../support/stack';

let stack: Stack;
let receiver: Receiver;

beforeAll(async () => {
  stack = await startStack();
  receiver = await startReceiver();
});
afterAll(async () => {
  await stack.stop();
  await receiver.close();
});

const PENDING = { prefer: 'pending=deny' };

/** A scene in which a person is asked, and the call that was answered `pending`. */
async function pendingCall({ toolUseId = 'use-1', timeouts = {} } = {}) {
  const scene = await Scene.set(stack, [{ id: 'person' }], timeouts);
  const ask = (
    id: string | undefined,
    input: unknown = { amount: 5 },
    headers: Record<string, string> = PENDING,
  ) => scene.call('pay', input, headers, id === undefined ? {} : { toolUseId: id });
  const first = await ask(toolUseId);
  return { scene, ask, first, callId: first.body.id as string };
}

async function allow(scene: Scene, callId: string, more: object = {}): Promise<void> {
  const [wait] = (await scene.read(callId)).body.pendingWaits;
  const answer = await scene.resolve(wait.id, { decision: 'allow', ...more });
  expect(answer.status).toBe(200);
}

test('what is undecided at the deadline is a denial for now with the wait’s address, and the work goes on', async () => {
  const { scene, first, callId } = await pendingCall();
  expect(first.status).toBe(200);
  expect(first.headers.get('preference-applied')).toBe('pending=deny');
  expect(first.headers.get('location')).toBe(`/v1/threads/${scene.threadId}/tool-calls/${callId}`);
  expect(first.body).toMatchObject({
    status: 'denied',
    denial: { by: 'pending', hookId: 'person', reason: { code: 'pending' }, executed: false },
    pendingWaits: [{ hookId: 'person', kind: 'client' }],
  });
  expect(first.body).not.toHaveProperty('input');
  expect((await scene.read(callId)).body.status).toBe('waiting');
});

test('the next identical request gets the approved value, edits included, and only that one', async () => {
  const { scene, ask, callId } = await pendingCall();
  await allow(scene, callId, { updatedInput: { amount: 4 } });
  // A look from outside hands nothing out.
  const looked = await scene.read(callId);
  expect(looked.body.status).toBe('allowed');
  expect(looked.body).not.toHaveProperty('input');
  const second = await ask('use-2');
  expect(second.body).toMatchObject({ id: callId, status: 'allowed', input: { amount: 4 } });
  const third = await ask('use-3');
  expect(third.body).toMatchObject({ status: 'denied', denial: { by: 'pending' } });
  expect(third.body.id).not.toBe(callId);
  const done = await scene.output(callId, { output: 'paid' });
  expect(done.body.status).toBe('completed');
});

test('of fifty identical requests at once, after the approval, one gets the value', async () => {
  const { scene, ask, callId } = await pendingCall();
  await allow(scene, callId);
  const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => ask(`other-${index}`)));
  const allowed = answers.filter(({ body }) => body.status === 'allowed');
  expect(allowed).toHaveLength(1);
  expect(allowed[0]!.body.id).toBe(callId);
  // The others are told `pending`, or, when their own call is not decided in time, where it is found.
  const told = answers.map(({ status, body }) => (status === 504 ? body.type : body.denial?.by));
  expect(told.filter((what) => what === 'pending' || what === '/problems/decision-timeout')).toHaveLength(49);
});

test('a repeat under the same toolUseId is the same call, however it stands', async () => {
  const { scene, ask, callId } = await pendingCall();
  expect((await ask('use-1')).body).toMatchObject({ id: callId, denial: { by: 'pending' } });
  await allow(scene, callId);
  expect((await ask('use-1')).body).toMatchObject({ id: callId, status: 'allowed' });
  expect((await ask('use-1')).body).toMatchObject({ id: callId, status: 'allowed' });
  expect((await ask('use-9')).body.id).not.toBe(callId);
  await scene.output(callId, { output: 1 });
  expect((await ask('use-1')).body).toMatchObject({ id: callId, status: 'completed', output: 1 });
});

test('a new toolUseId becomes an alias, so that a later output finds the call', async () => {
  const { scene, ask, callId } = await pendingCall();
  await allow(scene, callId);
  expect((await ask('use-2')).body.id).toBe(callId);
  for (const id of ['use-1', 'use-2']) {
    const found = await scene.agent.get(`/v1/threads/${scene.threadId}/tool-calls?toolUseId=${id}`);
    expect(found.body.items.map((item: { id: string }) => item.id)).toEqual([callId]);
  }
  expect(
    (await scene.agent.get(`/v1/threads/${scene.threadId}/tool-calls?toolUseId=nobody`)).body.items,
  ).toEqual([]);
});

test('approving one call authorises no call with another input, tool, thread or owner', async () => {
  const { scene, ask, callId } = await pendingCall();
  await allow(scene, callId);
  expect((await ask('a', { amount: 5_000 })).body.denial.by).toBe('pending');
  expect((await scene.call('pay.more', { amount: 5 }, PENDING)).body.denial.by).toBe('pending');
  const otherThread = await scene.newThread();
  expect((await otherThread.call('pay', { amount: 5 }, PENDING)).body.denial.by).toBe('pending');
  const path = `/v1/threads/${scene.threadId}/tool-calls`;
  const byOther = await scene.admin.post(path, { tool: 'pay', input: { amount: 5 } }, PENDING);
  expect(byOther.body).toMatchObject({ denial: { by: 'pending' } });
  expect(byOther.body.id).not.toBe(callId);
  // Spelled otherwise it is the same request.
  expect((await ask('z', JSON.parse('{"amount":5.0}'))).body).toMatchObject({
    id: callId,
    status: 'allowed',
  });
});

test('a denial is handed out once, too: then the same request is judged anew', async () => {
  const { scene, ask, callId } = await pendingCall();
  const [wait] = (await scene.read(callId)).body.pendingWaits;
  await scene.resolve(wait.id, { decision: 'deny', reason: 'no' });
  const told = await ask('use-2');
  expect(told.body).toMatchObject({ id: callId, status: 'denied', denial: { by: 'human' } });
  const anew = await ask('use-3');
  expect(anew.body).toMatchObject({ denial: { by: 'pending' } });
  expect(anew.body.id).not.toBe(callId);
  expect((await ask('use-1')).body).toMatchObject({ id: callId, denial: { by: 'human' } });
});

test('an approval that nobody picks up in time is expired, and the request is judged anew', async () => {
  const { scene, ask, callId } = await pendingCall({ timeouts: { approvalGrantTtlMs: 1_000 } });
  await allow(scene, callId);
  for (let status = 'allowed'; status === 'allowed';) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    ({ status } = (await scene.read(callId)).body);
    expect(['allowed', 'expired']).toContain(status);
  }
  const anew = await ask('use-2');
  expect(anew.body).toMatchObject({ denial: { by: 'pending' } });
  expect(anew.body.id).not.toBe(callId);
});

test('with wait=N a decision that comes in time is the answer', async () => {
  const { scene, ask, callId } = await pendingCall();
  const headers = { prefer: 'wait=20, pending=deny' };
  const waiting = ask('use-2', undefined, headers);
  await allow(scene, callId);
  expect((await waiting).body).toMatchObject({ id: callId, status: 'allowed' });

  const fresh = scene.call('pay', 'other', headers);
  let waits: { id: string; callId: string }[] = [];
  while (waits.length === 0) waits = (await scene.thread()).body.pendingWaits;
  await scene.resolve(waits[0]!.id, { decision: 'allow' });
  expect((await fresh).body).toMatchObject({ status: 'allowed', input: 'other' });
});

test('a call that is decided at once is answered at once, and is bound to nobody', async () => {
  const scene = await Scene.set(stack, []);
  const one = await scene.call('t', 1, PENDING);
  const two = await scene.call('t', 1, PENDING);
  expect([one.body.status, two.body.status]).toEqual(['allowed', 'allowed']);
  expect(one.body.id).not.toBe(two.body.id);
  expect(one.body).toHaveProperty('input', 1);
});

test('a hook that is still being asked is undecided like any other; its answer is handed out once', async () => {
  let release = (): void => undefined;
  receiver.behave(async () => {
    await new Promise<void>((resolve) => (release = resolve));
    return { decision: 'allow', updatedInput: 'by policy' };
  });
  const scene = await Scene.set(stack, [{ id: 'slow', url: receiver.url, retries: 0 }]);
  const first = await scene.call('t', 'original', PENDING, { toolUseId: 'a' });
  expect(first.body).toMatchObject({ status: 'denied', denial: { by: 'pending' } });
  release();
  expect((await scene.read(first.body.id, 10)).body.status).toBe('allowed');
  const second = await scene.call('t', 'original', PENDING, { toolUseId: 'b' });
  expect(second.body).toMatchObject({ id: first.body.id, status: 'allowed', input: 'by policy' });
  expect(receiver.received.filter(({ input }) => input.callId === first.body.id)).toHaveLength(1);
});

test('under its Idempotency-Key a request gets its own call, and its decision once', async () => {
  const { scene, callId } = await pendingCall();
  const mine = { prefer: 'pending=deny', 'idempotency-key': 'k' };
  const made = await scene.call('pay', { amount: 6 }, mine);
  expect(made.body.denial.by).toBe('pending');
  expect((await scene.call('pay', { amount: 6 }, mine)).body.id).toBe(made.body.id);
  await allow(scene, made.body.id);
  expect((await scene.call('pay', { amount: 6 }, mine)).body).toMatchObject({
    id: made.body.id,
    status: 'allowed',
  });
  expect((await scene.read(callId)).body.status).toBe('waiting');
});

test('the index only finds: a call that Temporal terminated binds nobody', async () => {
  const { scene, ask, callId } = await pendingCall();
  await stack.client.workflow.getHandle(callWorkflowId(stack.tenant, callId)).terminate();
  const next = await ask('use-2');
  expect(next.body).toMatchObject({ denial: { by: 'pending' } });
  expect(next.body.id).not.toBe(callId);
  expect((await scene.thread()).body.pendingWaits).toHaveLength(2);
});
