import { Webhook } from 'standardwebhooks';
import { OWN_SIGNING, TENANT_SIGNING } from '../support/hook-service';
import { startReceiver, type Received, type Receiver } from '../support/receiver';
import { Scene, type SceneHook } from '../support/scene';
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

interface Told {
  readonly status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
}

/** Answers as a receiver does: with the callback of the delivery. */
async function callBack(
  { input }: Received,
  body: object | string,
  { token = input.callback.token, url = input.callback.url, headers = {} } = {},
): Promise<Told> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: text,
  });
  return { status: answer.status, body: await answer.json() };
}

function signedHeaders(secret: string, id: string, text: string, at = new Date()): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, at, text),
  };
}

/** The hook promises to answer later; gives the parked call and the delivery. */
async function promised(hook: Partial<SceneHook> = {}) {
  receiver.behave((_, response) => {
    response.writeHead(202).end();
    return undefined;
  });
  const scene = await Scene.set(stack, [{ id: 'slow', url: receiver.url, ...hook }]);
  const made = await scene.call('t', { a: 1 });
  return { scene, made, callId: made.body.id as string, delivery: receiver.received.at(-1)! };
}

test('a hook that answers 202 parks the call, and its answer to the callback decides it', async () => {
  const { scene, made, callId, delivery } = await promised();
  expect(made.status).toBe(202);
  expect(made.body.pendingWaits).toMatchObject([{ hookId: 'slow', kind: 'delivery' }]);
  const told = await callBack(delivery, { decision: 'allow', reason: 'fine', updatedInput: { a: 2 } });
  expect(told).toMatchObject({ status: 200, body: { status: 'resolved', outcome: { by: ['hook:slow'] } } });
  expect((await scene.read(callId)).body).toMatchObject({ status: 'allowed', input: { a: 2 } });
  const [decision] = await scene.eventsOf(callId, 'hook_decision');
  expect(decision!.data).toMatchObject({
    processor: 'url',
    decision: 'allow',
    outcome: 'answered',
    rewrote: true,
    deliveryId: delivery.input.deliveryId,
    attempts: 1,
    resolvedBy: ['hook:slow'],
  });
});

test('a late deny is a policy’s deny', async () => {
  const { scene, callId, delivery } = await promised();
  await callBack(delivery, { decision: 'deny', reason: 'no' });
  expect((await scene.read(callId)).body.denial).toMatchObject({ by: 'policy', reason: { text: 'no' } });
});

test('a late ask parks for a person', async () => {
  const { scene, callId, delivery } = await promised();
  expect((await callBack(delivery, { decision: 'ask', updatedInput: { a: 3 } })).status).toBe(200);
  const [wait] = (await scene.read(callId)).body.pendingWaits;
  expect(wait).toMatchObject({ hookId: 'slow', kind: 'ask' });
  await scene.resolve(wait.id, { decision: 'allow', subjectDigest: wait.subjectDigest });
  expect((await scene.read(callId)).body).toMatchObject({ status: 'allowed', input: { a: 3 } });
  const decisions = await scene.eventsOf(callId, 'hook_decision');
  expect(decisions.map(({ data }) => data.decision)).toEqual(['ask']);
});

test('an answer that comes before the 202 was read is not lost, and its sender is not made to wait for it', async () => {
  for (const decision of ['allow', 'deny'] as const) {
    let told: Told | undefined;
    receiver.behave(async (delivery, response) => {
      told = await callBack(delivery, { decision, ...(decision === 'allow' && { updatedInput: 'early' }) });
      response.writeHead(202).end();
      return undefined;
    });
    const scene = await Scene.set(stack, [{ id: 'eager', url: receiver.url }]);
    const made = await scene.call('t', 'original');
    expect(told).toMatchObject({ status: 202, body: { status: 'kept' } });
    if (decision === 'allow') expect(made.body).toMatchObject({ status: 'allowed', input: 'early' });
    else expect(made.body).toMatchObject({ status: 'denied', denial: { by: 'policy' } });
    const [event] = await scene.eventsOf(made.body.id, 'hook_decision');
    expect(event!.data).toMatchObject({ decision, resolvedBy: ['hook:eager'] });
    expect(await scene.eventsOf(made.body.id, 'wait_opened')).toEqual([]);
    // Used up: it is of no use again.
    expect((await callBack(receiver.received.at(-1)!, { decision: 'deny' })).status).toBe(409);
  }
});

test('the same for a hook that is asked patiently, by the second hook and at the after-point', async () => {
  receiver.behave(async (delivery, response) => {
    if (delivery.input.hookId === 'first') return { decision: 'defer' };
    await callBack(delivery, { decision: 'allow', updatedOutput: 'early' });
    response.writeHead(202).end();
    return undefined;
  });
  const point = 'after_tool_call';
  const scene = await Scene.set(stack, [
    { id: 'first', point, url: receiver.url },
    { id: 'eager', point, url: receiver.url, retries: 0 },
  ]);
  const made = await scene.call('t', {});
  const done = await scene.output(made.body.id, { output: 'late' });
  expect(done.body).toMatchObject({ status: 'completed', output: 'early' });
});

test('of an early answer and one in the response, the response counts', async () => {
  receiver.behave(async (delivery) => {
    await callBack(delivery, { decision: 'allow' });
    return { decision: 'deny' };
  });
  const scene = await Scene.set(stack, [{ id: 'twofold', url: receiver.url }]);
  expect((await scene.call('t', {})).body.status).toBe('denied');
});

test('a replayed answer is refused, and under its Idempotency-Key it gets its own first answer', async () => {
  const { delivery } = await promised();
  const headers = { 'idempotency-key': 'once' };
  const first = await callBack(delivery, { decision: 'allow' }, { headers });
  expect(first.status).toBe(200);
  expect(await callBack(delivery, { decision: 'allow' }, { headers })).toEqual(first);
  expect((await callBack(delivery, { decision: 'deny' }, { headers })).status).toBe(422);
  for (const decision of ['allow', 'deny']) {
    const replayed = await callBack(delivery, { decision });
    expect(replayed).toMatchObject({
      status: 409,
      body: { outcome: { decision: 'allow', by: ['hook:slow'] } },
    });
  }
});

test('an answer after the time-out is refused as expired, and the outcome is the hook’s onFailure', async () => {
  const { scene, callId, delivery } = await promised({ asyncTimeoutMs: 200 });
  const read = await scene.read(callId, 20);
  expect(read.body).toMatchObject({
    status: 'denied',
    denial: { by: 'timeout', hookId: 'slow', reason: { code: 'hook_answer_timeout' } },
  });
  expect((await callBack(delivery, { decision: 'allow' })).status).toBe(410);
  expect((await scene.read(callId)).body.status).toBe('denied');
});

test('an answer to a call that was given up is refused as cancelled', async () => {
  const { scene, callId, delivery } = await promised();
  await scene.agent.delete(`/v1/threads/${scene.threadId}/tool-calls/${callId}`);
  expect((await callBack(delivery, { decision: 'allow' })).status).toBe(410);
});

test('without proof an answer is told what an unknown delivery is told', async () => {
  const one = await promised();
  const other = await promised();
  const text = JSON.stringify({ decision: 'allow' });
  const { deliveryId, callback } = one.delivery.input;
  const unknown = await callBack(one.delivery, text, { url: `${stack.nexus.url}/v1/deliveries/dlv_x_y_b0` });
  expect(unknown.status).toBe(404);
  const attempts: [string, { token?: string; headers?: Record<string, string> }][] = [
    ['no token', { token: '' }],
    ['another delivery’s token', { token: other.delivery.input.callback.token }],
    ['a changed token', { token: `${String(callback.token).slice(0, -1)}_` }],
    ['the tenant’s signature', { token: '', headers: signedHeaders(TENANT_SIGNING, deliveryId, text) }],
    [
      'a signature of a hook that has no own secret',
      { token: '', headers: signedHeaders(OWN_SIGNING, deliveryId, text) },
    ],
  ];
  for (const [name, proof] of attempts) {
    const told = await callBack(one.delivery, text, proof);
    expect([name, told.status, told.body.detail]).toEqual([name, 404, unknown.body.detail]);
  }
  const placed = await callBack(one.delivery, text, { url: callback.url.replace('_b0', '_b1') });
  expect(placed.status).toBe(404);
  expect((await one.scene.read(one.callId)).body.status).toBe('waiting');
});

test('a signature with the hook’s own secret is proof, within five minutes either way and for these bytes only', async () => {
  const minutes = (count: number): Date => new Date(Date.now() + count * 60_000);
  const text = JSON.stringify({ decision: 'allow' });
  for (const [skew, status] of [
    [-6, 404],
    [6, 404],
    [-4, 200],
  ] as const) {
    const { delivery } = await promised({ secret: 'own' });
    const { deliveryId } = delivery.input;
    const headers = signedHeaders(OWN_SIGNING, deliveryId, text, minutes(skew));
    expect((await callBack(delivery, `${text} `, { token: '', headers })).status).toBe(404);
    expect(
      (await callBack(delivery, text, { token: '', headers: signedHeaders(OWN_SIGNING, 'other', text) }))
        .status,
    ).toBe(404);
    expect((await callBack(delivery, text, { token: '', headers })).status).toBe(status);
  }
});

test('a malformed answer is refused with its faults, and the wait goes on', async () => {
  const { scene, callId, delivery } = await promised();
  for (const body of ['', '{', 'null', '[]', '"allow"', '{}', '{"decision":"Allow"}', '{"decison":"deny"}']) {
    const told = await callBack(delivery, body);
    expect([body, told.status >= 400 && told.status < 500]).toEqual([body, true]);
  }
  expect((await callBack(delivery, { decision: 'deny', updatedInput: 1 })).status).toBe(422);
  expect((await callBack(delivery, { decision: 'defer', updatedOutput: 1 })).status).toBe(422);
  expect((await scene.read(callId)).body.status).toBe('waiting');
  expect((await callBack(delivery, { decision: 'defer' })).status).toBe(200);
  expect((await scene.read(callId)).body.status).toBe('allowed');
});

test('people cannot answer for a hook', async () => {
  const { scene, made } = await promised();
  const [wait] = made.body.pendingWaits;
  const answers = await Promise.all(
    [scene.approver, scene.admin].map((by) => scene.resolve(wait.id, { decision: 'allow' }, by)),
  );
  expect(answers.map(({ status }) => status)).toEqual([403, 403]);
});

test('a hook that only observes may answer 202; its late answer is refused', async () => {
  const { made, delivery, scene, callId } = await promised({ mode: 'observe' });
  expect(made.body.status).toBe('allowed');
  expect((await callBack(delivery, { decision: 'deny' })).status).toBe(409);
  const [event] = await scene.eventsOf(callId, 'hook_decision');
  expect(event!.data).toMatchObject({ mode: 'observe', decision: 'defer' });
});

test('of fifty concurrent answers to one delivery one counts', async () => {
  const { delivery, scene, callId } = await promised();
  const told = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      callBack(delivery, { decision: index % 2 === 0 ? 'allow' : 'deny' }),
    ),
  );
  expect(told.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(told.filter(({ status }) => status === 409)).toHaveLength(49);
  const winner = told.find(({ status }) => status === 200)!.body.outcome.decision;
  expect((await scene.read(callId)).body.status).toBe(winner === 'allow' ? 'allowed' : 'denied');
});
