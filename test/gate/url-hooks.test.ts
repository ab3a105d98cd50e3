import { Webhook } from 'standardwebhooks';
import { HEADER_SECRET, OWN_SIGNING, TENANT_SIGNING } from '../support/hook-service';
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

const lastDelivery = () => receiver.received.at(-1)!;

test('a url hook that defers lets the call go on, with one event that says what it said', async () => {
  receiver.behave(() => ({ decision: 'defer', reason: 'not my business' }));
  const scene = await Scene.set(stack, [{ id: 'policy', url: receiver.url }]);
  const made = await scene.call('files.read', { path: '/a' });
  expect(made.status).toBe(200);
  expect(made.body).toMatchObject({ status: 'allowed', input: { path: '/a' }, pendingWaits: [] });
  const decisions = await scene.eventsOf(made.body.id, 'hook_decision');
  expect(decisions.map(({ data }) => data)).toEqual([
    {
      callId: made.body.id,
      hookId: 'policy',
      index: 0,
      point: 'before_tool_call',
      processor: 'url',
      mode: 'enforce',
      outcome: 'answered',
      decision: 'defer',
      reason: { code: 'defer', text: 'not my business' },
      latencyMs: expect.any(Number),
      deliveryId: lastDelivery().input.deliveryId,
      attempts: 1,
      profileVersion: 1,
      digestBefore: made.body.subjectDigest,
      digestAfter: made.body.subjectDigest,
    },
  ]);
});

test('a hook that denies is a policy, and its reason reaches the caller', async () => {
  receiver.behave(() => ({ decision: 'deny', reason: 'never on a Friday' }));
  const scene = await Scene.set(stack, [{ id: 'policy', url: receiver.url }]);
  const made = await scene.call('deploy.now', {});
  expect(made.status).toBe(200);
  expect(made.body).toMatchObject({
    status: 'denied',
    denial: {
      by: 'policy',
      hookId: 'policy',
      reason: { code: 'denied_by_policy', text: 'never on a Friday' },
      executed: false,
    },
  });
});

test('a delivery says everything that the contract names, and is signed with the secret of the tenant or of the hook', async () => {
  receiver.behave(() => ({ decision: 'defer' }));
  for (const [secret, key] of [
    [undefined, TENANT_SIGNING],
    ['own', OWN_SIGNING],
  ] as const) {
    const scene = await Scene.set(stack, [
      {
        id: 'policy',
        url: receiver.url,
        headers: { 'X-Plain': 'text', Authorization: { secret: 'header', prefix: 'Bearer ' } },
        ...(secret && { secret }),
      },
    ]);
    const made = await scene.call('t', [1], {}, { toolUseId: 'tu-1', actor: { user: 'u' } });
    const { headers, text, input } = lastDelivery();
    expect(new Webhook(key).verify(text, headers as Record<string, string>)).toEqual(input);
    expect(headers).toMatchObject({
      'x-plain': 'text',
      authorization: `Bearer ${HEADER_SECRET}`,
      'webhook-id': input.deliveryId,
      'accept-encoding': 'identity',
    });
    expect(input).toEqual({
      deliveryId: `dlv_${stack.tenant}_${made.body.id}_b0`,
      hookId: 'policy',
      index: 0,
      point: 'before_tool_call',
      attempt: 1,
      sentAt: expect.any(String),
      tenantId: stack.tenant,
      profile: { id: scene.profileId, version: 1 },
      thread: { id: scene.threadId, metadata: {} },
      callId: made.body.id,
      toolUseId: 'tu-1',
      tool: 't',
      input: [1],
      subjectDigest: made.body.subjectDigest,
      rewrittenBy: [],
      actor: { user: 'u' },
      callback: {
        url: `${stack.nexus.url}/v1/deliveries/${input.deliveryId}`,
        token: expect.stringMatching(/^pct_/),
        expiresAt: expect.any(String),
      },
    });
  }
});

test('sixteen hooks with a deny at the fifth leave five events, and the other eleven are not asked', async () => {
  const before = receiver.received.length;
  receiver.behave(({ input }) => ({ decision: input.index === 4 ? 'deny' : 'defer' }));
  const hooks = Array.from({ length: 16 }, (_, index) => ({ id: `h${index}`, url: receiver.url }));
  const scene = await Scene.set(stack, hooks);
  const made = await scene.call('t', {});
  expect(made.body).toMatchObject({ status: 'denied', denial: { by: 'policy', hookId: 'h4' } });
  const decisions = await scene.eventsOf(made.body.id, 'hook_decision');
  expect(decisions.map(({ data }) => [data.index, data.decision])).toEqual([
    [0, 'defer'],
    [1, 'defer'],
    [2, 'defer'],
    [3, 'defer'],
    [4, 'deny'],
  ]);
  expect(receiver.received.length - before).toBe(5);
});

test('what hooks after the tool let through is the output; what they deny is withheld, and the model is told not to repeat', async () => {
  receiver.behave(({ input }) =>
    input.output?.secret === true ? { decision: 'deny', reason: 'no' } : { decision: 'defer' },
  );
  const scene = await Scene.set(stack, [{ id: 'look', point: 'after_tool_call', url: receiver.url }]);
  const one = await scene.call('t', { a: 1 });
  expect(one.body.status).toBe('allowed');
  const done = await scene.output(one.body.id, { output: { fine: 1 } });
  expect(done.status).toBe(200);
  expect(done.body).toMatchObject({ status: 'completed', output: { fine: 1 } });
  expect(lastDelivery().input).toMatchObject({
    point: 'after_tool_call',
    input: { a: 1 },
    output: { fine: 1 },
  });

  const two = await scene.call('t', { a: 2 });
  const withheld = await scene.output(two.body.id, { output: { secret: true } });
  expect(withheld.status).toBe(200);
  expect(withheld.body).toMatchObject({
    status: 'denied',
    denial: { by: 'policy', hookId: 'look', executed: true, reason: { code: 'denied_by_policy' } },
  });
  expect(withheld.body.denial.reason.text).toContain('do not repeat');
  expect(withheld.body).not.toHaveProperty('output');
});
