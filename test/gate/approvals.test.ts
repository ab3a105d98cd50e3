import { Scene } from '../support/scene';
import { startStack, type Stack } from '../support/stack';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

async function parked(scene: Scene, input: unknown = { amount: 10 }) {
  const call = await scene.call('payments.transfer', input);
  expect(call.status).toBe(202);
  const [wait] = (await scene.thread()).body.pendingWaits.filter(
    ({ callId }: { callId: string }) => callId === call.body.id,
  );
  return { callId: call.body.id as string, wait };
}

const person = (owner: string) => stack.as(owner, ['waits:resolve', 'read']);

describe('who may answer', () => {
  test('whoever asked for a call cannot resolve its wait, with whichever of their keys', async () => {
    const scene = await Scene.set(stack, [{ id: 'gate' }]);
    const { callId, wait } = await parked(scene);
    const otherKey = await stack.as('agent', ['waits:resolve', 'admin']);
    const answer = await scene.resolve(wait.id, { decision: 'allow' }, otherKey);
    expect(answer).toMatchObject({ status: 403, body: { type: '/problems/own-call' } });
    expect((await scene.read(callId)).body.status).toBe('waiting');
  });

  test('a hook that allows self-approval takes the answer of whoever asked', async () => {
    const scene = await Scene.set(stack, [{ id: 'gate', allowSelfApproval: true }]);
    const { wait } = await parked(scene);
    expect((await scene.resolve(wait.id, { decision: 'allow' }, await person('agent'))).status).toBe(200);
  });

  test('a name in the body is refused: who resolved is the owner of the key', async () => {
    const scene = await Scene.set(stack, [{ id: 'gate' }]);
    const { callId, wait } = await parked(scene);
    const forged = await scene.resolve(wait.id, { decision: 'allow', resolvedBy: 'ceo' });
    expect(forged.status).toBe(422);
    await scene.resolve(wait.id, { decision: 'allow' });
    const [resolved] = await scene.eventsOf(callId, 'wait_resolved');
    expect(resolved?.data.by).toEqual(['ann']);
  });

  test('only the named approvers count, by owner or by scope', async () => {
    const scene = await Scene.set(stack, [{ id: 'gate', approvers: ['carol', 'scope:admin'] }]);
    const first = await parked(scene);
    expect(await scene.resolve(first.wait.id, { decision: 'deny' }, await person('dave'))).toMatchObject({
      status: 403,
      body: { type: '/problems/not-an-approver' },
    });
    expect((await scene.resolve(first.wait.id, { decision: 'allow' }, await person('carol'))).status).toBe(
      200,
    );
    const second = await parked(scene);
    expect((await scene.resolve(second.wait.id, { decision: 'allow' }, scene.admin)).status).toBe(200);
  });

  test('a key without the scope cannot resolve, and learns nothing of the wait', async () => {
    const scene = await Scene.set(stack, [{ id: 'gate' }]);
    const { wait } = await parked(scene);
    const reader = await stack.as('rita', ['read']);
    expect((await scene.resolve(wait.id, { decision: 'allow' }, reader)).status).toBe(403);
    expect((await scene.thread(reader)).body.pendingWaits[0]).not.toHaveProperty('value');
  });

  test('unknown waits, waits of another thread and of another tenant are the same 404', async () => {
    const scene = await Scene.set(stack, [{ id: 'gate' }]);
    const { wait } = await parked(scene);
    const elsewhere = await scene.newThread();
    const unknown = await scene.resolve('no-such-wait', { decision: 'allow' });
    const foreignThread = await elsewhere.resolve(wait.id, { decision: 'allow' });
    const other = await startStack({ worker: false });
    const stranger = await other.as('ann', ['waits:resolve']);
    const foreignTenant = await scene.resolve(wait.id, { decision: 'allow' }, stranger);
    await other.stop();
    for (const answer of [unknown, foreignThread, foreignTenant]) {
      expect({ ...answer.body, requestId: '' }).toEqual({ ...unknown.body, requestId: '' });
      expect(answer.status).toBe(404);
    }
  });
});

describe('several approvals', () => {
  const hook = { id: 'gate', minApprovals: 2 };

  test('distinct owners must allow the same digest; two keys of one owner are one', async () => {
    const scene = await Scene.set(stack, [hook]);
    const { callId, wait } = await parked(scene);
    const body = { decision: 'allow', subjectDigest: wait.subjectDigest };
    const first = await scene.resolve(wait.id, body, await person('bea'));
    expect(first).toMatchObject({ status: 200, body: { status: 'counted', counted: 1, needed: 2 } });
    const again = await scene.resolve(wait.id, body, await person('bea'));
    expect(again).toMatchObject({ status: 200, body: { status: 'counted', counted: 1, needed: 2 } });
    expect((await scene.thread()).body.pendingWaits[0].approvals).toEqual(['bea']);
    const second = await scene.resolve(wait.id, body, await person('cy'));
    expect(second).toMatchObject({
      status: 200,
      body: { status: 'resolved', outcome: { by: ['bea', 'cy'] } },
    });
    expect((await scene.read(callId)).body.status).toBe('allowed');
    expect(await scene.eventsOf(callId, 'wait_vote')).toHaveLength(1);
  });

  test('an edit starts the count anew with the edited value and its editor’s vote', async () => {
    const scene = await Scene.set(stack, [hook]);
    const { callId, wait } = await parked(scene);
    const subjectDigest = wait.subjectDigest;
    await scene.resolve(wait.id, { decision: 'allow', subjectDigest }, await person('bea'));
    const edit = { decision: 'allow', updatedInput: { amount: 5 }, subjectDigest };
    expect(await scene.resolve(wait.id, edit, await person('cy'))).toMatchObject({
      body: { counted: 1, needed: 2 },
    });
    const [now] = (await scene.thread()).body.pendingWaits;
    expect(now).toMatchObject({ value: { amount: 5 }, approvals: ['cy'] });
    const stale = await scene.resolve(wait.id, { decision: 'allow', subjectDigest }, await person('bea'));
    expect(stale).toMatchObject({
      status: 409,
      body: { type: '/problems/digest-mismatch', subjectDigest: now.subjectDigest },
    });
    const agreed = { decision: 'allow', subjectDigest: now.subjectDigest };
    expect((await scene.resolve(wait.id, agreed, await person('bea'))).body.outcome.by).toEqual([
      'cy',
      'bea',
    ]);
    expect((await scene.read(callId)).body).toMatchObject({ status: 'allowed', input: { amount: 5 } });
  });

  test('one deny ends it', async () => {
    const scene = await Scene.set(stack, [hook]);
    const { callId, wait } = await parked(scene);
    await scene.resolve(
      wait.id,
      { decision: 'allow', subjectDigest: wait.subjectDigest },
      await person('bea'),
    );
    await scene.resolve(wait.id, { decision: 'deny', reason: 'no' }, await person('cy'));
    expect((await scene.read(callId)).body).toMatchObject({
      status: 'denied',
      denial: { by: 'human', reason: { text: 'no' } },
    });
  });

  test('without the digest an allow does not count, and a defer cannot pass the others by', async () => {
    const scene = await Scene.set(stack, [hook]);
    const { wait } = await parked(scene);
    expect((await scene.resolve(wait.id, { decision: 'allow' })).body.type).toBe('/problems/digest-required');
    const defer = { decision: 'defer', subjectDigest: wait.subjectDigest };
    expect((await scene.resolve(wait.id, defer)).body.type).toBe('/problems/defer-skips-quorum');
  });
});

describe('what is approved is what runs', () => {
  test('a digest that is not the value’s is refused, and after an earlier edit it is required', async () => {
    const scene = await Scene.set(stack, [{ id: 'one' }, { id: 'two' }]);
    const { callId, wait } = await parked(scene);
    const wrong = await scene.resolve(wait.id, { decision: 'allow', subjectDigest: '0'.repeat(64) });
    expect(wrong.status).toBe(409);
    await scene.resolve(wait.id, { decision: 'defer', updatedInput: { amount: 9 } });
    const [second] = (await scene.thread()).body.pendingWaits;
    expect((await scene.resolve(second.id, { decision: 'allow' })).status).toBe(422);
    await scene.resolve(second.id, { decision: 'allow', subjectDigest: second.subjectDigest });
    const allowed = await scene.read(callId);
    expect(allowed.body).toMatchObject({ input: { amount: 9 }, subjectDigest: second.subjectDigest });
  });

  test.each([
    [{ decision: 'Allow' }],
    [{ decision: 'allow ' }],
    [{ decison: 'deny' }],
    [{ decision: 'deny', updatedInput: {} }],
    [{ decision: 'allow', updatedOutput: {} }],
    [{ decision: 'allow', updatedText: 'x' }],
    [{ decision: 'allow', rewrit: {} }],
    [{ decision: 'ask' }],
    [{}],
  ])('%j is refused with what is allowed, and nothing is resolved', async (body) => {
    const scene = await Scene.set(stack, [{ id: 'gate' }]);
    const { callId, wait } = await parked(scene);
    const answer = await scene.resolve(wait.id, body);
    expect(answer).toMatchObject({ status: 422, body: { type: '/problems/validation' } });
    expect(answer.body.errors[0].detail).toEqual(expect.any(String));
    expect((await scene.read(callId)).body.status).toBe('waiting');
  });

  test.each([['null'], ['[]'], ['"allow"'], ['true'], ['<html>'], ['']])(
    'a body of %s resolves nothing',
    async (body) => {
      const scene = await Scene.set(stack, [{ id: 'gate' }]);
      const { callId, wait } = await parked(scene);
      const answer = await scene.approver.send(
        'POST',
        `/v1/threads/${scene.threadId}/waits/${wait.id}/resolve`,
        body,
      );
      expect([400, 422]).toContain(answer.status);
      expect((await scene.read(callId)).body.status).toBe('waiting');
    },
  );

  test('an edit of 900 KB arrives unchanged, and so does an input of that size', async () => {
    const scene = await Scene.set(stack, [{ id: 'gate' }]);
    const { callId, wait } = await parked(scene, { text: 'a'.repeat(900_000) });
    expect(wait.value.text).toHaveLength(900_000);
    await scene.resolve(wait.id, { decision: 'allow', updatedInput: { text: 'b'.repeat(900_000) } });
    const allowed = await scene.read(callId);
    expect(allowed.body.input).toEqual({ text: 'b'.repeat(900_000) });
    await scene.output(callId, { output: 'c'.repeat(900_000) });
    expect((await scene.read(callId)).body.output).toHaveLength(900_000);
  });
});

describe('answers that are repeated', () => {
  test('an Idempotency-Key gets its own first answer; without one a second resolve is a second resolve', async () => {
    const scene = await Scene.set(stack, [{ id: 'gate' }]);
    const { wait } = await parked(scene);
    const key = { 'idempotency-key': 'once' };
    const first = await scene.resolve(wait.id, { decision: 'allow' }, scene.approver, key);
    const again = await scene.resolve(wait.id, { decision: 'allow' }, scene.approver, key);
    expect(again).toMatchObject({ status: 200, body: first.body });
    const other = await scene.resolve(wait.id, { decision: 'deny' }, scene.approver, key);
    expect(other).toMatchObject({ status: 422, body: { type: '/problems/idempotency-key-reused' } });
    const second = await scene.resolve(wait.id, { decision: 'allow' });
    expect(second).toMatchObject({ status: 409, body: { outcome: first.body.outcome } });
    const elses = await scene.resolve(wait.id, { decision: 'allow' }, await person('bea'), key);
    expect(elses.status).toBe(409);
  });

  test('several waits are answered in one request, each on its own', async () => {
    const scene = await Scene.set(stack, [{ id: 'gate' }]);
    const one = await parked(scene);
    const two = await parked(scene);
    const threadId = scene.threadId;
    const bulk = await scene.approver.post('/v1/waits/resolve', {
      answers: [
        { threadId, waitId: one.wait.id, decision: 'allow' },
        { threadId, waitId: 'unknown', decision: 'allow' },
        { threadId, waitId: two.wait.id, decision: 'deny', updatedInput: 1 },
        { threadId, waitId: two.wait.id, decision: 'deny' },
      ],
    });
    expect(bulk.status).toBe(200);
    expect(bulk.body.items.map(({ status }: { status: number }) => status)).toEqual([200, 404, 422, 200]);
    expect((await scene.read(one.callId)).body.status).toBe('allowed');
    expect((await scene.read(two.callId)).body.status).toBe('denied');
  });
});
