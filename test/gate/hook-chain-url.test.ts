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

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test('a slow first hook and a fast second one compose the same value, a hundred times', async () => {
  receiver.behave(async ({ input }) => {
    if (input.hookId === 'slow') await pause(Math.random() * 20);
    return { decision: 'defer', updatedInput: [...input.input, input.hookId] };
  });
  const scene = await Scene.set(stack, [
    { id: 'slow', url: receiver.url },
    { id: 'fast', url: receiver.url },
  ]);
  for (let round = 0; round < 10; round += 1) {
    const made = await Promise.all(Array.from({ length: 10 }, () => scene.call('t', ['start'])));
    for (const { body } of made) {
      expect(body).toMatchObject({ status: 'allowed', input: ['start', 'slow', 'fast'] });
    }
  }
});

test('a hook that has no opinion changes nothing wherever it stands, and sees the composed value', async () => {
  receiver.behave(({ input }) =>
    input.hookId.startsWith('silent')
      ? { decision: 'defer' }
      : { decision: 'defer', updatedInput: { ...input.input, [input.hookId]: true } },
  );
  const rewriters = ['one', 'two'];
  for (let place = 0; place <= rewriters.length; place += 1) {
    const ids = rewriters.toSpliced(place, 0, 'silent');
    const scene = await Scene.set(
      stack,
      ids.map((id) => ({ id, url: receiver.url })),
    );
    const made = await scene.call('t', {});
    expect(made.body).toMatchObject({ status: 'allowed', input: { one: true, two: true } });
    const seen = receiver.received.filter(({ input }) => input.callId === made.body.id);
    expect(seen.map(({ input }) => input.rewrittenBy)).toEqual(
      ids.map((_, index) => ids.slice(0, index).filter((id) => id !== 'silent')),
    );
    const decisions = await scene.eventsOf(made.body.id, 'hook_decision');
    expect(decisions.map(({ data }) => [data.hookId, data.digestBefore === data.digestAfter])).toEqual(
      ids.map((id) => [id, id === 'silent']),
    );
  }
});

test('a person who is asked after a hook has rewritten sees, and approves, the rewritten value', async () => {
  receiver.behave(() => ({ decision: 'defer', updatedInput: { amount: 1 } }));
  const scene = await Scene.set(stack, [{ id: 'cap', url: receiver.url }, { id: 'person' }]);
  const made = await scene.call('pay', { amount: 1_000 });
  const seen = await scene.approver.get(`/v1/threads/${scene.threadId}/tool-calls/${made.body.id}`);
  const [wait] = seen.body.pendingWaits;
  expect(wait.value).toEqual({ amount: 1 });
  expect((await scene.resolve(wait.id, { decision: 'allow', subjectDigest: 'f'.repeat(64) })).status).toBe(
    409,
  );
  expect(
    (await scene.resolve(wait.id, { decision: 'allow', subjectDigest: wait.subjectDigest })).status,
  ).toBe(200);
  const done = await scene.read(made.body.id);
  expect(done.body).toMatchObject({
    status: 'allowed',
    input: { amount: 1 },
    subjectDigest: wait.subjectDigest,
  });
});

test('after a person’s allow no later hook can change what was approved: none is asked', async () => {
  receiver.behave(({ input }) => ({ decision: 'defer', updatedInput: { ...input.input, note: 'seen' } }));
  const scene = await Scene.set(stack, [{ id: 'person' }, { id: 'annotator', url: receiver.url }]);
  const made = await scene.call('pay', { amount: 5 });
  const [wait] = made.body.pendingWaits;
  await scene.resolve(wait.id, { decision: 'allow' });
  expect((await scene.read(made.body.id)).body).toMatchObject({ status: 'allowed', input: { amount: 5 } });
  expect(receiver.received.some(({ input }) => input.callId === made.body.id)).toBe(false);
});

test('retries are one delivery, counted and signed anew, and the answer of the last attempt counts', async () => {
  let asked = 0;
  receiver.behave((_, response) => {
    asked += 1;
    if (asked === 3) return { decision: 'deny' };
    response.writeHead(503).end();
    return undefined;
  });
  const scene = await Scene.set(stack, [{ id: 'flaky', url: receiver.url }]);
  const made = await scene.call('t', {});
  expect(made.body.denial).toMatchObject({ by: 'policy', hookId: 'flaky' });
  const seen = receiver.received.filter(({ input }) => input.callId === made.body.id);
  expect(seen.map(({ input }) => input.attempt)).toEqual([1, 2, 3]);
  expect(new Set(seen.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  // When the promise to answer would end is reckoned anew.
  const same = seen.map(({ input: { attempt: _, sentAt: __, callback, ...input } }) => ({
    ...input,
    callback: { ...callback, expiresAt: '' },
  }));
  expect(same).toEqual([same[0], same[0], same[0]]);
  const [event] = await scene.eventsOf(made.body.id, 'hook_decision');
  expect(event!.data.attempts).toBe(3);
});

test('a hook that needs longer than a first try is asked again in the same delivery, with all its time', async () => {
  receiver.behave(async () => {
    await pause(1_800);
    return { decision: 'deny' };
  });
  const scene = await Scene.set(stack, [{ id: 'slow', url: receiver.url }]);
  const made = await scene.call('t', {});
  expect(made.body.denial).toMatchObject({ by: 'policy' });
  const seen = receiver.received.filter(({ input }) => input.callId === made.body.id);
  expect(new Set(seen.map(({ input }) => input.deliveryId)).size).toBe(1);
  expect(seen.map(({ input }) => input.attempt)).toEqual([1, 2]);
});

test('giving a call up while its hook is asked is prompt; the hook’s answer changes nothing', async () => {
  let release = (): void => undefined;
  const reached = new Promise<void>((resolve) => {
    receiver.behave(async () => {
      resolve();
      await new Promise<void>((free) => (release = free));
      return { decision: 'allow' };
    });
  });
  const scene = await Scene.set(stack, [{ id: 'slow', url: receiver.url, retries: 0 }]);
  const making = scene.call('t', {}, { 'idempotency-key': 'k' });
  await reached;
  const list = await scene.agent.get(`/v1/threads/${scene.threadId}/tool-calls`);
  const [{ id }] = list.body.items;
  const cancelled = await scene.agent.delete(`/v1/threads/${scene.threadId}/tool-calls/${id}`);
  expect(cancelled.body).toMatchObject({ status: 'cancelled', denial: { by: 'cancelled', executed: false } });
  release();
  expect((await making).body.status).toBe('cancelled');
  expect(await scene.eventsOf(id, 'hook_decision')).toEqual([]);
  const handle = stack.client.workflow.getHandle(callWorkflowId(stack.tenant, id));
  await handle.result();
  expect((await scene.read(id)).body.status).toBe('cancelled');
});

test('closing the thread, and cancelling the workflow, end a call whose hook is being asked', async () => {
  for (const end of ['thread', 'workflow'] as const) {
    let release = (): void => undefined;
    const reached = new Promise<void>((resolve) => {
      receiver.behave(async () => {
        resolve();
        await new Promise<void>((free) => (release = free));
        return { decision: 'allow' };
      });
    });
    const scene = await Scene.set(stack, [{ id: 'slow', url: receiver.url, retries: 0 }]);
    const making = scene.call('t', {});
    await reached;
    const [{ id }] = (await scene.agent.get(`/v1/threads/${scene.threadId}/tool-calls`)).body.items;
    if (end === 'thread') await scene.agent.delete(`/v1/threads/${scene.threadId}`);
    else await stack.client.workflow.getHandle(callWorkflowId(stack.tenant, id)).cancel();
    expect((await making).body).toMatchObject({ status: 'cancelled', denial: { by: 'cancelled' } });
    release();
  }
});

test('what the audit says of sixteen hooks is what they said, for every kind of answer', async () => {
  receiver.behave(({ input }) => {
    if (input.index === 15) return { decision: 'allow' };
    return input.index % 2 === 0 ? { decision: 'defer' } : { decision: 'defer', updatedInput: input.index };
  });
  const hooks = Array.from({ length: 16 }, (_, index) => ({ id: `h${index}`, url: receiver.url }));
  const scene = await Scene.set(stack, hooks);
  const made = await scene.call('t', 'start');
  expect(made.body).toMatchObject({ status: 'allowed', input: 13 });
  const decisions = await scene.eventsOf(made.body.id, 'hook_decision');
  expect(decisions.map(({ data }) => [data.index, data.decision, data.rewrote === true])).toEqual(
    hooks.map((_, index) => [index, index === 15 ? 'allow' : 'defer', index % 2 === 1 && index < 15]),
  );
  for (const [index, { data }] of decisions.entries()) {
    if (index > 0) expect(data.digestBefore).toBe(decisions[index - 1]!.data.digestAfter);
  }
});

test('three hooks that each rewrite 900 KB keep the history small, and the value arrives whole', async () => {
  receiver.behave(({ input }) => ({
    decision: 'defer',
    updatedInput: { text: input.input.text, by: [...input.input.by, input.hookId] },
  }));
  const scene = await Scene.set(
    stack,
    ['a', 'b', 'c'].map((id) => ({ id, url: receiver.url })),
  );
  const text = 'é'.repeat(450_000);
  const made = await scene.call('t', { text, by: [] });
  expect(made.body).toMatchObject({ status: 'allowed', input: { by: ['a', 'b', 'c'] } });
  expect(made.body.input.text).toBe(text);
  const seen = receiver.received.filter(({ input }) => input.callId === made.body.id);
  expect(seen.map(({ input }) => input.input.text.length)).toEqual([450_000, 450_000, 450_000]);
  const handle = stack.client.workflow.getHandle(callWorkflowId(stack.tenant, made.body.id));
  expect((await handle.describe()).historySize).toBeLessThan(24_576);
});

test('one hook at each tool point costs at most 18 events and 24 KiB of history, one park more at most 26 events', async () => {
  receiver.behave(() => ({ decision: 'defer' }));
  const after = { id: 'after', point: 'after_tool_call', url: receiver.url } as const;
  for (const [hooks, events] of [
    [[{ id: 'before', url: receiver.url }, after], 18],
    [[{ id: 'person' }, after], 26],
  ] as const) {
    const scene = await Scene.set(stack, hooks);
    const made = await scene.call('t', { a: 1 });
    const [wait] = made.body.pendingWaits;
    if (wait !== undefined) await scene.resolve(wait.id, { decision: 'allow' });
    expect((await scene.output(made.body.id)).body.status).toBe('completed');
    const handle = stack.client.workflow.getHandle(callWorkflowId(stack.tenant, made.body.id));
    await handle.result();
    const { historyLength, historySize } = await handle.describe();
    expect(historyLength).toBeLessThanOrEqual(events);
    expect(historySize).toBeLessThanOrEqual(24_576);
  }
});
