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

const deciders = async (scene: Scene, callId: string) =>
  (await scene.eventsOf(callId, 'hook_decision')).map(({ data }) => [
    data.hookId,
    data.processor,
    data.decision,
  ]);

describe('permissions', () => {
  const permissions = [
    {
      id: 'small',
      effect: 'allow',
      tools: ['pay.*'],
      where: [{ field: '/input/amount', op: 'lte', value: 10 }],
    },
    {
      id: 'never',
      effect: 'deny',
      tools: ['pay.*'],
      where: [{ field: '/input/to', op: 'eq', value: 'eve' }],
      reason: 'eve is blocked',
    },
  ];
  const hooks = [{ id: 'person', tools: ['pay.*'] }];

  test('a matching deny denies before any hook, whatever allows stand before it', async () => {
    const scene = await Scene.set(stack, hooks, undefined, { permissions });
    const made = await scene.call('pay.now', { amount: 1, to: 'eve' });
    expect(made.body).toMatchObject({
      status: 'denied',
      denial: {
        by: 'permission',
        hookId: 'never',
        reason: { code: 'denied_by_permission', text: 'eve is blocked' },
        executed: false,
      },
    });
    expect(await deciders(scene, made.body.id)).toEqual([['never', 'permission', 'deny']]);
  });

  test('a matching allow lets the call go on without asking its hooks, and is audited like one', async () => {
    const scene = await Scene.set(stack, hooks, undefined, { permissions });
    const made = await scene.call('pay.now', { amount: 10, to: 'bob' });
    expect(made.body.status).toBe('allowed');
    expect(await deciders(scene, made.body.id)).toEqual([['small', 'permission', 'allow']]);
  });

  test('where none matches the hooks decide', async () => {
    const scene = await Scene.set(stack, hooks, undefined, { permissions });
    const made = await scene.call('pay.now', { amount: 11, to: 'bob' });
    expect(made.status).toBe(202);
    expect(made.body.pendingWaits).toMatchObject([{ hookId: 'person', kind: 'client' }]);
  });

  test('a denial holds for what a person or a hook made of the input, too', async () => {
    const scene = await Scene.set(stack, hooks, undefined, { permissions });
    const made = await scene.call('pay.now', { amount: 50, to: 'bob' });
    const [wait] = made.body.pendingWaits;
    const resolved = await scene.resolve(wait.id, {
      decision: 'allow',
      updatedInput: { amount: 50, to: 'eve' },
    });
    expect(resolved.status).toBe(200);
    const after = await scene.read(made.body.id);
    expect(after.body).toMatchObject({ status: 'denied', denial: { by: 'permission', hookId: 'never' } });
    expect(await deciders(scene, made.body.id)).toEqual([
      ['person', 'client', 'allow'],
      ['never', 'permission', 'deny'],
    ]);

    receiver.behave(({ input }) => ({ decision: 'defer', updatedInput: { ...input.input, to: 'eve' } }));
    const other = await Scene.set(stack, [{ id: 'rewriter', url: receiver.url }], undefined, { permissions });
    const rewritten = await other.call('pay.now', { amount: 50, to: 'bob' });
    expect(rewritten.body).toMatchObject({ status: 'denied', denial: { by: 'permission', hookId: 'never' } });
  });
});

describe('conditions of hooks', () => {
  test('a hook whose condition does not hold is not asked and leaves no event', async () => {
    const scene = await Scene.set(stack, [
      { id: 'big', where: [{ field: '/input/amount', op: 'gt', value: 100 }] },
      { id: 'mine', where: [{ field: '/actor/team', op: 'eq', value: 'ops' }] },
    ]);
    const free = await scene.call('t', { amount: 100 });
    expect(free.body.status).toBe('allowed');
    expect(await deciders(scene, free.body.id)).toEqual([]);
    const big = await scene.call('t', { amount: 101 });
    expect(big.body.pendingWaits).toMatchObject([{ hookId: 'big' }]);
    const ops = await scene.call('t', { amount: 1 }, {}, { actor: { team: 'ops' } });
    expect(ops.body.pendingWaits).toMatchObject([{ hookId: 'mine' }]);
  });

  test('a condition looks at the composed value, not at the original', async () => {
    receiver.behave(() => ({ decision: 'defer', updatedInput: { amount: 500 } }));
    const scene = await Scene.set(stack, [
      { id: 'rewriter', url: receiver.url },
      { id: 'big', where: [{ field: '/input/amount', op: 'gt', value: 100 }] },
    ]);
    const made = await scene.call('t', { amount: 1 });
    expect(made.body.pendingWaits).toMatchObject([{ hookId: 'big', kind: 'client' }]);
  });

  test('conditions hold for large values, which never travel through Temporal', async () => {
    const text = 'x'.repeat(200_000);
    const scene = await Scene.set(stack, [
      { id: 'found', where: [{ field: '/input/text', op: 'ends_with', value: 'xyz' }] },
    ]);
    expect((await scene.call('t', { text })).body.status).toBe('allowed');
    expect((await scene.call('t', { text: `${text}xyz` })).body.pendingWaits).toMatchObject([
      { hookId: 'found' },
    ]);
  });

  test('after the tool, conditions look at what it gave', async () => {
    const scene = await Scene.set(stack, [
      { id: 'leak', point: 'after_tool_call', where: [{ field: '/output/rows', op: 'gt', value: 10 }] },
      {
        id: 'broken',
        point: 'after_tool_call',
        where: [{ field: '/error/code', op: 'exists', value: true }],
      },
    ]);
    const one = await scene.call('t', {});
    expect((await scene.output(one.body.id, { output: { rows: 3 } })).body.status).toBe('completed');
    const two = await scene.call('t', {});
    const parked = await scene.output(two.body.id, { output: { rows: 30 } });
    expect(parked.status).toBe(202);
    expect(parked.body.pendingWaits).toMatchObject([{ hookId: 'leak', point: 'after_tool_call' }]);
    const three = await scene.call('t', {});
    const failed = await scene.output(three.body.id, { error: { code: 'E' } });
    expect(failed.body.pendingWaits).toMatchObject([{ hookId: 'broken' }]);
  });

  test.each([
    [{ field: '/output/a', op: 'exists', value: true }, '/configuration/hooks/0/match/where/0/field'],
    [{ field: '/input/a', op: 'like', value: 'x' }, '/configuration/hooks/0/match/where/0'],
    [{ field: '/input/a', op: 'matches', value: '(' }, '/configuration/hooks/0/match/where/0/value'],
    [{ field: '/input/a', op: 'in', value: [] }, '/configuration/hooks/0/match/where/0/value'],
    [{ field: 'input', op: 'exists', value: true }, '/configuration/hooks/0/match/where/0/field'],
  ])(
    'a condition that could never be meant so is refused with the profile: %j',
    async (condition, pointer) => {
      const admin = await stack.as('root', ['admin']);
      const hook = {
        id: 'h',
        point: 'before_tool_call',
        match: { where: [condition] },
        processor: { type: 'client' },
      };
      const made = await admin.post('/v1/profiles', { name: 'p', configuration: { hooks: [hook] } });
      expect(made.status).toBe(422);
      expect(made.body.errors.map(({ pointer: at }: { pointer: string }) => at)[0]).toContain(pointer);
    },
  );
});

describe('unmatchedTools', () => {
  test('deny: a tool that no rule names does not run', async () => {
    const scene = await Scene.set(stack, [{ id: 'person', tools: ['pay.*'] }], undefined, {
      unmatchedTools: 'deny',
    });
    const made = await scene.call('Pay.now', {});
    expect(made.body).toMatchObject({
      status: 'denied',
      denial: { by: 'permission', hookId: 'unmatchedTools' },
    });
    expect((await scene.call('pay.now', {})).body.status).toBe('waiting');
  });

  test('ask: a tool that no rule names waits for a person, and a hook that only observes is no match', async () => {
    const scene = await Scene.set(stack, [{ id: 'watch', mode: 'observe' }], undefined, {
      unmatchedTools: 'ask',
    });
    const made = await scene.call('t', { a: 1 });
    expect(made.status).toBe(202);
    expect(made.body.pendingWaits).toMatchObject([{ hookId: 'unmatchedTools', kind: 'ask', index: -1 }]);
    expect(await deciders(scene, made.body.id)).toEqual([
      ['watch', 'client', 'ask'],
      ['unmatchedTools', 'permission', 'ask'],
    ]);
    const [wait] = made.body.pendingWaits;
    expect((await scene.resolve(wait.id, { decision: 'allow' })).status).toBe(200);
    expect((await scene.read(made.body.id)).body).toMatchObject({ status: 'allowed', input: { a: 1 } });
    expect(await scene.eventsOf(made.body.id, 'wait_resolved')).toHaveLength(1);
    expect(await deciders(scene, made.body.id)).toHaveLength(2);
  });

  test('a tool that a permission names is no unmatched tool', async () => {
    const permissions = [{ id: 'p', effect: 'allow', tools: ['t'] }];
    const scene = await Scene.set(stack, [], undefined, { permissions, unmatchedTools: 'deny' });
    expect((await scene.call('t', {})).body.status).toBe('allowed');
    expect((await scene.call('u', {})).body.status).toBe('denied');
  });
});

describe('ask', () => {
  const asking = { decision: 'ask', reason: 'is this right?', updatedInput: { amount: 7 } };

  test('parks for a person, who sees the rewrite that came with it; asking and answering are two records', async () => {
    receiver.behave(() => asking);
    const scene = await Scene.set(stack, [{ id: 'unsure', url: receiver.url }, { id: 'next' }]);
    const made = await scene.call('t', { amount: 1 });
    expect(made.status).toBe(202);
    const seen = await scene.approver.get(`/v1/threads/${scene.threadId}/tool-calls/${made.body.id}`);
    const [wait] = seen.body.pendingWaits;
    expect(wait).toMatchObject({ hookId: 'unsure', kind: 'ask', value: { amount: 7 } });
    const [decision] = await scene.eventsOf(made.body.id, 'hook_decision');
    expect(decision!.data).toMatchObject({ decision: 'ask', outcome: 'answered', rewrote: true });
    expect(decision!.data.digestAfter).toBe(wait.subjectDigest);
    expect((await scene.resolve(wait.id, { decision: 'allow' })).status).toBe(200);
    expect((await scene.read(made.body.id)).body).toMatchObject({ status: 'allowed', input: { amount: 7 } });
    expect(await deciders(scene, made.body.id)).toEqual([['unsure', 'url', 'ask']]);
  });

  test('a person’s deny there is a person’s deny; a defer goes on to the next hook', async () => {
    receiver.behave(() => ({ decision: 'ask' }));
    const scene = await Scene.set(stack, [{ id: 'unsure', url: receiver.url }, { id: 'next' }]);
    const one = await scene.call('t', {});
    await scene.resolve(one.body.pendingWaits[0].id, { decision: 'deny', reason: 'no' });
    expect((await scene.read(one.body.id)).body.denial).toMatchObject({
      by: 'human',
      hookId: 'unsure',
      reason: { code: 'denied_by_person', text: 'no' },
    });
    const two = await scene.call('t', {});
    await scene.resolve(two.body.pendingWaits[0].id, { decision: 'defer' });
    expect((await scene.read(two.body.id)).body.pendingWaits).toMatchObject([
      { hookId: 'next', kind: 'client' },
    ]);
  });

  test('is answered by the tenant’s default approvers only, as they were when the call began', async () => {
    receiver.behave(() => ({ decision: 'ask' }));
    const admin = await stack.as('root', ['admin']);
    await admin.put('/v1/settings', { defaultApprovers: ['boss'] });
    const scene = await Scene.set(stack, [{ id: 'unsure', url: receiver.url }]);
    const made = await scene.call('t', {});
    await admin.put('/v1/settings', {});
    const [wait] = made.body.pendingWaits;
    expect((await scene.resolve(wait.id, { decision: 'allow' })).status).toBe(403);
    const boss = await stack.as('boss', ['waits:resolve']);
    expect((await scene.resolve(wait.id, { decision: 'allow' }, boss)).status).toBe(200);
  });

  test.each(['fail_closed', 'fail_open'] as const)(
    'unresolved it is the hook’s onFailure: %s',
    async (onFailure) => {
      receiver.behave(() => ({ decision: 'ask' }));
      const scene = await Scene.set(stack, [
        { id: 'unsure', url: receiver.url, asyncTimeoutMs: 300, onFailure },
      ]);
      const made = await scene.call('t', {}, { prefer: 'wait=20' });
      if (onFailure === 'fail_open') expect(made.body.status).toBe('allowed');
      else expect(made.body).toMatchObject({ status: 'denied', denial: { by: 'timeout', hookId: 'unsure' } });
    },
  );
});

describe('observe', () => {
  test.each([
    ['deny', { decision: 'deny' }, 'deny'],
    ['a rewrite', { decision: 'allow', updatedInput: { b: 2 } }, 'allow'],
    ['ask', { decision: 'ask' }, 'ask'],
    ['nothing valid', { decision: 'maybe' }, 'deny'],
  ])(
    'a hook that only looks on changes nothing by %s, and its record says what it would have decided',
    async (_, said, decision) => {
      receiver.behave(() => said);
      const scene = await Scene.set(stack, [{ id: 'watch', url: receiver.url, mode: 'observe' }]);
      const made = await scene.call('t', { a: 1 });
      expect(made.body).toMatchObject({ status: 'allowed', input: { a: 1 }, pendingWaits: [] });
      const [event] = await scene.eventsOf(made.body.id, 'hook_decision');
      expect(event!.data).toMatchObject({ mode: 'observe', decision });
      expect(event!.data.digestAfter).toBe(made.body.subjectDigest);
    },
  );
});

describe('schemas', () => {
  const tools = [
    {
      kind: 'caller',
      name: 'pay',
      inputSchema: {
        type: 'object',
        required: ['amount'],
        properties: { amount: { type: 'number', maximum: 100 } },
      },
    },
  ];

  test('a rewrite that the tool’s schema refuses is no answer: the work does not happen', async () => {
    receiver.behave(() => ({ decision: 'allow', updatedInput: { amount: 1_000 } }));
    const scene = await Scene.set(stack, [{ id: 'r', url: receiver.url }], undefined, { tools });
    const made = await scene.call('pay', { amount: 1 });
    expect(made.body).toMatchObject({
      status: 'denied',
      denial: { by: 'hook_failure', reason: { code: 'rewrite_refused' } },
    });
    receiver.behave(() => ({ decision: 'allow', updatedInput: { amount: 99 } }));
    expect((await scene.call('pay', { amount: 1 })).body).toMatchObject({
      status: 'allowed',
      input: { amount: 99 },
    });
  });

  test('an edit that the schema refuses is refused with its place, and the wait stays open', async () => {
    const scene = await Scene.set(stack, [{ id: 'person' }], undefined, { tools });
    const made = await scene.call('pay', { amount: 1 });
    const [wait] = made.body.pendingWaits;
    const refused = await scene.resolve(wait.id, { decision: 'allow', updatedInput: { amount: 'many' } });
    expect(refused.status).toBe(422);
    expect(refused.body.errors).toMatchObject([{ pointer: '/updatedInput/amount' }]);
    expect((await scene.resolve(wait.id, { decision: 'allow' })).status).toBe(200);
  });

  test('a schema that is none is refused with the profile', async () => {
    const admin = await stack.as('root', ['admin']);
    const bad = [{ kind: 'caller', name: 'pay', inputSchema: { type: 'objekt' } }];
    const made = await admin.post('/v1/profiles', { name: 'p', configuration: { tools: bad } });
    expect(made.status).toBe(422);
    expect(made.body.errors[0].pointer).toContain('/configuration/tools/0/inputSchema');
  });
});
