import { Scene } from '../support/scene';
import { startStack, type Stack } from '../support/stack';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

const waitOf = (call: { body: { pendingWaits: { id: string }[] } }): string =>
  call.body.pendingWaits[0]?.id ?? 'none';

describe('[S] hooks live on the profile, at most 16, and run in list order', () => {
  test('sixteen hooks are asked one after the other, each seeing what the ones before made', async () => {
    const ids = Array.from({ length: 16 }, (_, index) => `h${index}`);
    const scene = await Scene.set(
      stack,
      ids.map((id) => ({ id })),
    );
    let call = await scene.call('any.tool', { trail: [] });
    const callId = call.body.id;
    const trail: string[] = [];
    for (const id of ids) {
      const seen = (await scene.thread()).body.pendingWaits[0];
      expect(seen).toMatchObject({ hookId: id, value: { trail } });
      trail.push(id);
      const subjectDigest = seen.subjectDigest;
      const answer = await scene.resolve(seen.id, {
        decision: 'defer',
        updatedInput: { trail },
        subjectDigest,
      });
      expect(answer.status).toBe(200);
    }
    call = await scene.read(callId);
    expect(call.body).toMatchObject({ status: 'allowed', input: { trail: ids } });
    const decisions = await scene.eventsOf(callId, 'hook_decision');
    expect(decisions.map(({ data }) => data.hookId)).toEqual(ids);
  });

  test('a deny at the fifth of sixteen leaves five decisions and asks nobody after it', async () => {
    const scene = await Scene.set(
      stack,
      Array.from({ length: 16 }, (_, index) => ({ id: `h${index}` })),
    );
    const call = await scene.call('any.tool', 1);
    for (let index = 0; index < 5; index += 1) {
      const { id } = (await scene.thread()).body.pendingWaits[0];
      await scene.resolve(id, index < 4 ? { decision: 'defer' } : { decision: 'deny', reason: 'no further' });
    }
    const denied = await scene.read(call.body.id);
    expect(denied).toMatchObject({
      status: 200,
      body: {
        status: 'denied',
        denial: { by: 'human', hookId: 'h4', reason: { text: 'no further' }, executed: false },
        pendingWaits: [],
      },
    });
    const decisions = await scene.eventsOf(call.body.id, 'hook_decision');
    expect(decisions.map(({ data }) => data.decision)).toEqual(['defer', 'defer', 'defer', 'defer', 'deny']);
    expect((await scene.thread()).body.state).toBe('idle');
  });
});

describe('[S] the first decision other than defer wins', () => {
  test('an allow at the first hook leaves the second unasked', async () => {
    const scene = await Scene.set(stack, [{ id: 'one' }, { id: 'two' }]);
    const call = await scene.call('t', { n: 1 });
    await scene.resolve(waitOf(call), { decision: 'allow' });
    expect((await scene.read(call.body.id)).body.status).toBe('allowed');
    expect((await scene.eventsOf(call.body.id, 'hook_decision')).map(({ data }) => data.hookId)).toEqual([
      'one',
    ]);
  });

  test('rewrites of defers compose in order and an allow may carry the last one', async () => {
    const scene = await Scene.set(stack, [{ id: 'one' }, { id: 'two' }]);
    const call = await scene.call('t', { n: 1 });
    await scene.resolve(waitOf(call), { decision: 'defer', updatedInput: { n: 2 } });
    const second = (await scene.thread()).body.pendingWaits[0];
    expect(second.value).toEqual({ n: 2 });
    await scene.resolve(second.id, {
      decision: 'allow',
      updatedInput: { n: 3 },
      subjectDigest: second.subjectDigest,
    });
    expect((await scene.read(call.body.id)).body).toMatchObject({ status: 'allowed', input: { n: 3 } });
    const [first, last] = await scene.eventsOf(call.body.id, 'hook_decision');
    expect(first?.data).toMatchObject({ rewrote: true, decision: 'defer' });
    expect(last?.data).toMatchObject({
      rewrote: true,
      decision: 'allow',
      digestBefore: first?.data.digestAfter,
    });
  });

  test.each([null, false, 0, '', [], {}])('a rewrite to %j is a rewrite', async (value) => {
    const scene = await Scene.set(stack, [{ id: 'one' }]);
    const call = await scene.call('t', { n: 1 });
    await scene.resolve(waitOf(call), { decision: 'allow', updatedInput: value });
    const allowed = await scene.read(call.body.id);
    expect(allowed.body.input).toStrictEqual(value);
  });
});

describe('[S] match.tools names tools exactly or by one trailing wildcard', () => {
  test.each([
    ['payments.transfer', 202],
    ['payments.transfer.now', 200],
    ['Payments.transfer', 200],
    ['billing.refund', 202],
    ['billing.eu.refund', 202],
    ['billing', 200],
    ['billing2.x', 200],
    ['constructor', 200],
    ['__proto__', 200],
  ])('%s is answered with %i', async (tool, status) => {
    const scene = await Scene.set(stack, [{ id: 'one', tools: ['payments.transfer', 'billing.*'] }]);
    expect((await scene.call(tool, {})).status).toBe(status);
  });

  test('[S] a hook without match runs for every tool', async () => {
    const scene = await Scene.set(stack, [{ id: 'one' }]);
    expect((await scene.call('constructor', {})).status).toBe(202);
  });
});

test('a hook that only observes is audited with what it would have done, and holds nobody up', async () => {
  const scene = await Scene.set(stack, [{ id: 'watch', mode: 'observe' }]);
  const call = await scene.call('t', 1);
  expect(call).toMatchObject({ status: 200, body: { status: 'allowed' } });
  const [decision] = await scene.eventsOf(call.body.id, 'hook_decision');
  expect(decision?.data).toMatchObject({
    hookId: 'watch',
    mode: 'observe',
    decision: 'ask',
    outcome: 'answered',
  });
});

test('a call pins its profile: hooks that are deleted while it is parked still gate it', async () => {
  const scene = await Scene.set(stack, [{ id: 'one' }, { id: 'two' }]);
  const call = await scene.call('t', 1);
  const profile = await scene.admin.get(`/v1/profiles/${scene.profileId}`);
  const changed = await scene.admin.send(
    'PATCH',
    `/v1/profiles/${scene.profileId}`,
    { configuration: { hooks: [] } },
    { 'if-match': profile.headers.get('etag') ?? '' },
  );
  expect(changed.status).toBe(200);
  await scene.resolve(waitOf(call), { decision: 'defer' });
  const second = (await scene.thread()).body.pendingWaits[0];
  expect(second.hookId).toBe('two');
  await scene.resolve(second.id, { decision: 'deny' });
  const denied = await scene.read(call.body.id);
  expect(denied.body).toMatchObject({ status: 'denied', profileVersion: 1 });
  expect((await scene.call('t', 1)).body).toMatchObject({ status: 'allowed', profileVersion: 2 });
});

test('a thread of a deleted profile goes on under its last version', async () => {
  const scene = await Scene.set(stack, [{ id: 'one' }]);
  await scene.admin.delete(`/v1/profiles/${scene.profileId}`, { 'if-match': '*' });
  expect((await scene.call('t', 1)).status).toBe(202);
  expect((await scene.agent.post('/v1/threads', { profileId: scene.profileId })).status).toBe(422);
});
