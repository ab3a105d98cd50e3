import { Scene } from '../support/scene';
import { startStack, type Stack } from '../support/stack';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

const key = (value: string) => ({ 'idempotency-key': value });

test('a repeated Idempotency-Key gets the current call, at each stage of it', async () => {
  const scene = await Scene.set(stack, [{ id: 'gate' }]);
  const request = () => scene.call('t', { b: 1, a: 2 }, key('k'));
  const first = await request();
  expect(first.status).toBe(202);
  expect((await request()).body).toEqual(first.body);
  const spelled = await scene.agent.send(
    'POST',
    `/v1/threads/${scene.threadId}/tool-calls`,
    '{ "input": {"a":2.0,"b":1}, "tool":"t" }',
    key('k'),
  );
  expect(spelled.body.id).toBe(first.body.id);
  await scene.resolve(first.body.pendingWaits[0].id, { decision: 'allow' });
  expect(await request()).toMatchObject({ status: 200, body: { id: first.body.id, status: 'allowed' } });
  await scene.output(first.body.id, { output: 'done' });
  expect(await request()).toMatchObject({ body: { id: first.body.id, status: 'completed', output: 'done' } });
  expect(await scene.eventsOf(first.body.id, 'tool_call_started')).toHaveLength(1);
});

test.each([[[{ id: 'gate' }]], [[]]])(
  'another request under the key is refused (hooks %j)',
  async (hooks) => {
    const scene = await Scene.set(stack, hooks);
    const first = await scene.call('t', { n: 1 }, key('k'));
    for (const other of [
      await scene.call('t', { n: 2 }, key('k')),
      await scene.call('u', { n: 1 }, key('k')),
      await scene.call('t', { n: 1 }, key('k'), { toolUseId: 'x' }),
    ]) {
      expect(other).toMatchObject({
        status: 422,
        body: { type: '/problems/idempotency-key-reused', callId: first.body.id },
      });
    }
  },
);

test.each([[[{ id: 'gate' }]], [[]]])(
  'twenty equal requests at once make one call (hooks %j)',
  async (hooks) => {
    const scene = await Scene.set(stack, hooks);
    const answers = await Promise.all(Array.from({ length: 20 }, () => scene.call('t', { n: 1 }, key('k'))));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(new Set(answers.map(({ status }) => status)).size).toBe(1);
    expect(await scene.eventsOf(answers[0]!.body.id, 'tool_call_started')).toHaveLength(1);
  },
);

test('the key is the owner’s and the thread’s: elsewhere it makes another call', async () => {
  const scene = await Scene.set(stack, []);
  const there = await scene.newThread();
  const one = await scene.call('t', 1, key('k'));
  const two = await there.call('t', 1, key('k'));
  expect(two.body.id).not.toBe(one.body.id);
});

test('a repeated toolUseId is only data: with other input it parks anew, and equal input parks anew as well', async () => {
  const scene = await Scene.set(stack, [{ id: 'gate' }]);
  const one = await scene.call('t', { n: 1 }, {}, { toolUseId: 'call_0' });
  await scene.resolve(one.body.pendingWaits[0].id, { decision: 'allow' });
  const other = await scene.call('t', { n: 2 }, {}, { toolUseId: 'call_0' });
  expect(other).toMatchObject({ status: 202, body: { toolUseId: 'call_0' } });
  expect(other.body.id).not.toBe(one.body.id);
  const same = await scene.call('t', { n: 1 }, {}, { toolUseId: 'call_0' });
  expect(same.status).toBe(202);
  await scene.output(one.body.id);
  const afterEnd = await scene.call('t', { n: 3 }, {}, { toolUseId: 'call_0' });
  expect(afterEnd.status).toBe(202);
});

test('approving one call allows nothing else: the same tool with another input parks again', async () => {
  const scene = await Scene.set(stack);
  const small = await scene.call('payments.refund', { amount: 10 });
  await scene.resolve(small.body.pendingWaits[0].id, { decision: 'allow' });
  expect((await scene.call('payments.refund', { amount: 10_000 })).status).toBe(202);
});

test('an output that is posted again gets the recorded result; another one changes nothing and is noted', async () => {
  const scene = await Scene.set(stack, []);
  const call = await scene.call('t', 1);
  const first = await scene.output(call.body.id, { output: { a: 1, b: 2 } });
  expect(await scene.output(call.body.id, { output: { b: 2, a: 1 } })).toMatchObject({
    status: 200,
    body: first.body,
  });
  expect((await scene.output(call.body.id, { output: 'other' })).status).toBe(409);
  expect((await scene.output(call.body.id, { error: { a: 1, b: 2 } })).status).toBe(409);
  expect((await scene.read(call.body.id)).body.output).toEqual({ a: 1, b: 2 });
});

test.each([null, false, 0, '', [], {}])('an output of %j is kept as it is', async (output) => {
  const scene = await Scene.set(stack, []);
  const call = await scene.call('t', output);
  expect(call.body.input).toStrictEqual(output);
  const done = await scene.output(call.body.id, { output });
  expect(done.body).toMatchObject({ status: 'completed' });
  expect(done.body.output).toStrictEqual(output);
});

test('a tool that failed is reported as an error, and the call is failed', async () => {
  const scene = await Scene.set(stack, []);
  const call = await scene.call('t', 1);
  const failed = await scene.output(call.body.id, { error: { message: 'no such account' } });
  expect(failed.body).toMatchObject({ status: 'failed', error: { message: 'no such account' } });
  const finished = await scene.eventsOf(call.body.id, 'tool_finished');
  expect(finished[0]?.data).toMatchObject({ result: 'error' });
  expect(JSON.stringify(finished)).not.toContain('account');
});

test.each([[{}], [{ output: 1, error: 2 }], [{ result: 1 }]])('an output of %j is refused', async (body) => {
  const scene = await Scene.set(stack, []);
  const call = await scene.call('t', 1);
  expect((await scene.output(call.body.id, body)).status).toBe(422);
});

test('no output is taken while the call waits, or after it was denied', async () => {
  const scene = await Scene.set(stack, [{ id: 'gate' }]);
  const call = await scene.call('t', 1);
  expect((await scene.output(call.body.id)).body.type).toBe('/problems/call-not-decided');
  await scene.resolve(call.body.pendingWaits[0].id, { decision: 'deny' });
  expect((await scene.output(call.body.id)).body).toMatchObject({
    type: '/problems/call-ended',
    callStatus: 'denied',
  });
  expect((await scene.read(call.body.id)).body).not.toHaveProperty('output');
});
