import { createHash, randomUUID } from 'node:crypto';
import { HEADER_SECRET } from '../support/hook-service';
import { startReceiver, type Receiver } from '../support/receiver';
import { Scene, type SceneHook } from '../support/scene';
import { startStack, type Stack } from '../support/stack';
import { Chat, HOOK_SECRET, signatureOf } from './chat';
import type { Spoiled } from './fixture';

/** Nexus as Manager sees it. */
let stack: Stack;
let receiver: Receiver;

beforeAll(async () => {
  stack = await startStack();
  receiver = await startReceiver();
});
beforeEach(() => receiver.behave(() => ({ decision: 'defer' })));
afterAll(async () => {
  await stack.stop();
  await receiver.close();
});

/** A tenant whose chats in the role forge have these hooks. */
async function tenant(hooks: readonly SceneHook[], more: object = {}): Promise<Scene> {
  const scene = await Scene.set(stack, hooks, undefined, more);
  const settings = await scene.admin.get('/v1/settings');
  await scene.admin.put('/v1/settings', { ...settings.body, roleProfiles: { forge: scene.profileId } });
  const installed = await scene.admin.put('/v1/hook-keys/1', { secret: HOOK_SECRET });
  expect(installed.status).toBe(200);
  return scene;
}

async function waitsOf(scene: Scene, count = 1) {
  for (;;) {
    const { body } = await scene.approver.get('/v1/waits?limit=200');
    if (body.items.length >= count) return body.items;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function resolveAll(scene: Scene, body: object): Promise<void> {
  for (const { threadId, id } of await waitsOf(scene)) {
    await scene.approver.post(`/v1/threads/${threadId}/waits/${id}/resolve`, body);
  }
}

async function auditOf(scene: Scene, dispatchId: string) {
  const response = await fetch(`${stack.nexus.url}/v1/audit`, {
    headers: { authorization: `Bearer ${scene.approver.token}` },
  });
  const lines = (await response.text()).trim().split('\n');
  return lines
    .map((line) => JSON.parse(line))
    .filter(({ type, data }) => type === 'lifecycle_event' && data.dispatchId === dispatchId);
}

test('a tool that nobody objects to is answered with an empty object, signed with the claims that came', async () => {
  const scene = await tenant([]);
  const chat = new Chat(stack, { ticket: 'T-1' });
  const answer = await chat.tool('call_1', 'execute', { command: 'ls' });
  expect([answer.status, answer.text]).toEqual([200, '{}']);
  expect(await signatureOf(answer)).toMatchObject({
    iss: 'manager',
    sub: `coder:chat:${chat.chatId}`,
    jti: answer.dispatchId,
    type: 'pre_tool_use',
    body_sha256: createHash('sha256').update('{}').digest('hex'),
  });
  expect(await auditOf(scene, answer.dispatchId)).toMatchObject([
    {
      data: {
        event: 'pre_tool_use',
        chatId: chat.chatId,
        role: 'forge',
        ticket: 'T-1',
        tool: 'execute',
        decision: 'allow',
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    },
  ]);
});

test('a denial says who denied and why, and a rewrite is the whole new input', async () => {
  await tenant([{ id: 'guard', url: receiver.url }]);
  const chat = new Chat(stack);
  receiver.behave(() => ({ decision: 'deny', reason: 'not here' }));
  expect((await chat.tool('a', 'execute', { command: 'rm' })).body).toEqual({
    permission: { decision: 'deny', reason: 'Denied (policy, guard): not here.' },
  });
  receiver.behave(() => ({ decision: 'allow', updatedInput: { command: 'ls' } }));
  expect((await chat.tool('b', 'execute', { command: 'rm' })).body).toEqual({
    permission: { decision: 'allow', input_override: { command: 'ls' } },
  });
});

test('a secret that a hook puts into its reason is not in the audit', async () => {
  const scene = await tenant([{ id: 'guard', url: receiver.url }]);
  receiver.behave(() => ({ decision: 'deny', reason: `not with ${HEADER_SECRET}` }));
  const answer = await new Chat(stack).tool('a', 'execute', { command: 'rm' });
  const [event] = await auditOf(scene, answer.dispatchId);
  expect(event.data).toMatchObject({
    decision: 'deny',
    reason: { text: expect.stringContaining('not with') },
  });
  expect(JSON.stringify(event)).not.toContain(HEADER_SECRET);
});

test('a parked approval end to end: pending, approved with an edit, passed once, its output found, the next one parks', async () => {
  const scene = await tenant([{ id: 'person', tools: ['execute'] }]);
  const chat = new Chat(stack, { budgetMs: 700 });
  const first = await chat.tool('call_1', 'execute', { command: 'deploy' });
  expect(first.body.permission.decision).toBe('deny');
  expect(first.body.permission.reason).toMatch(/waits for Allow execute\?.*\/waits\/.*same call again/);
  const [wait] = await waitsOf(scene);
  expect(wait.value).toEqual({ command: 'deploy' });
  await scene.approver.post(`/v1/threads/${wait.threadId}/waits/${wait.id}/resolve`, {
    decision: 'allow',
    updatedInput: { command: 'deploy --dry-run' },
  });
  const again = await chat.tool('call_2', 'execute', { command: 'deploy' });
  expect(again.body).toEqual({
    permission: { decision: 'allow', input_override: { command: 'deploy --dry-run' } },
  });
  expect((await chat.ran('call_2', 'execute', { tool_response: { exit: 0 } })).text).toBe('{}');
  const call = await scene.approver.get(`/v1/threads/${wait.threadId}/tool-calls/${wait.callId}`);
  expect(call.body).toMatchObject({ status: 'completed', output: { exit: 0 } });

  for (const [id, command] of [
    ['call_3', 'deploy'],
    ['call_4', 'destroy'],
  ]) {
    const parked = await chat.tool(id!, 'execute', { command });
    expect(parked.body.permission.reason).toMatch(/Not decided yet/);
  }
  await resolveAll(scene, { decision: 'deny' });
});

test('the same dispatch again gets the same bytes, also while the first is still being answered', async () => {
  let asked = 0;
  receiver.behave(async () => {
    asked += 1;
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { decision: 'deny', reason: `answer ${asked}` };
  });
  const scene = await tenant([{ id: 'slow', url: receiver.url }]);
  const chat = new Chat(stack);
  const dispatch_id = randomUUID();
  const answers = await Promise.all(
    [0, 1, 2].map(() => chat.tool('call_1', 'execute', { a: 1 }, { meta: { dispatch_id } })),
  );
  const late = await chat.tool('call_1', 'execute', { a: 1 }, { meta: { dispatch_id } });
  expect(new Set([...answers, late].map(({ text }) => text)).size).toBe(1);
  expect(asked).toBe(1);
  expect(await auditOf(scene, dispatch_id)).toHaveLength(1);
  expect((await signatureOf(late))['jti']).toBe(dispatch_id);
});

test('the same tool use under another dispatch is the same call; with another input it is another', async () => {
  let asked = 0;
  receiver.behave(() => {
    asked += 1;
    return { decision: 'deny', reason: String(asked) };
  });
  await tenant([{ id: 'counts', url: receiver.url }]);
  const chat = new Chat(stack);
  const first = await chat.tool('call_0', 'execute', { a: 1 });
  expect((await chat.tool('call_0', 'execute', { a: 1 })).text).toBe(first.text);
  expect((await chat.tool('call_0', 'execute', { a: 2 })).text).not.toBe(first.text);
  expect(asked).toBe(2);
});

test.each([
  ['a repeated name', '{"path":"a","path":"b"}'],
  ['names in two cases', '{"path":"a","Path":"b"}'],
  ['an integer that would change', '{"n":9007199254740993}'],
  ['a lone surrogate', '{"t":"\\ud800"}'],
  ['deep nesting', `${'['.repeat(140)}${']'.repeat(140)}`],
])('an input that cannot be judged as it is, is a denial and no error: %s', async (_what, raw) => {
  const scene = await tenant([]);
  const chat = new Chat(stack);
  const answer = await chat.tool('x', 'execute', 'HERE', { body: (text) => text.replace('"HERE"', raw) });
  expect(answer.status).toBe(200);
  expect(answer.body.permission.decision).toBe('deny');
  expect(answer.body.permission.reason).toMatch(/cannot be judged/);
  expect(await auditOf(scene, answer.dispatchId)).toMatchObject([{ data: { decision: 'deny' } }]);
});

test('what a hook makes of an output reaches the model as context, and is never a permission', async () => {
  await tenant([{ id: 'after', point: 'after_tool_call', url: receiver.url }]);
  const chat = new Chat(stack);
  await chat.tool('a', 'read_file', { path: 'x' });
  receiver.behave(() => ({ decision: 'deny', reason: 'personal data' }));
  const denied = await chat.ran('a', 'read_file', { tool_response: 'SECRET-4711' });
  expect(denied.body).toEqual({ model_context: expect.stringMatching(/must not be used: .*personal data/) });
  await chat.tool('b', 'read_file', { path: 'x' });
  receiver.behave(() => ({ decision: 'allow', updatedOutput: 'clean' }));
  const rewritten = await chat.ran('b', 'read_file', { tool_response: 'SECRET-4711' });
  expect(rewritten.body).toEqual({ model_context: expect.stringContaining('"clean"') });
  await chat.tool('c', 'read_file', { path: 'x' });
  receiver.behave(() => ({ decision: 'defer' }));
  for (const result of [{}, { tool_error: 'failed' }]) {
    expect((await chat.ran('c', 'read_file', result)).status).toBe(200);
  }
  expect((await chat.ran('unknown', 'read_file', { tool_response: 1 })).text).toBe('{}');
});

test('a prompt is judged: rewritten, denied, or parked and handed out once to the same prompt', async () => {
  const scene = await tenant([
    { id: 'person', point: 'before_input', where: [{ field: '/text', op: 'contains', value: 'ask' }] },
    { id: 'guard', point: 'before_input', url: receiver.url },
  ]);
  const chat = new Chat(stack, { budgetMs: 700 });
  receiver.behave(() => ({ decision: 'allow', updatedText: 'polite' }));
  expect((await chat.prompt('rude')).body).toEqual({
    permission: { decision: 'allow', input_override: { prompt: 'polite' } },
  });
  receiver.behave(() => ({ decision: 'deny', reason: 'no' }));
  expect((await chat.prompt('')).body.permission.decision).toBe('deny');
  const pending = await chat.prompt('ask me');
  expect(pending.body.permission.reason).toMatch(/Not decided yet/);
  const [wait] = await waitsOf(scene);
  await scene.approver.post(`/v1/threads/${wait.threadId}/waits/${wait.id}/resolve`, { decision: 'allow' });
  expect((await chat.prompt('ask me')).text).toBe('{}');
  expect((await chat.prompt('ask me')).body.permission.reason).toMatch(/Not decided yet/);
  await resolveAll(scene, { decision: 'deny' });
});

test('a session begins with its assignment, and events that inform are answered with nothing', async () => {
  await tenant([], { instructions: 'Build carefully.' });
  const chat = new Chat(stack, { ticket: 'T-7' });
  const start = await chat.send('session_start', { source: 'startup' });
  expect(start.body).toEqual({
    model_context: 'You work in the role forge of ticket T-7.\n\nBuild carefully.',
  });
  for (const type of ['pre_compact', 'post_compact', 'stop']) {
    expect((await chat.send(type, {})).text).toBe('{}');
  }
});

test('a long assignment is cut within the limit of the sender', async () => {
  await tenant([], { instructions: 'ä'.repeat(20_000) });
  const start = await new Chat(stack).send('session_start', {});
  expect(Buffer.byteLength(start.body.model_context)).toBeLessThanOrEqual(16_384);
});

test('a role without a profile is allowed nothing, and is told what to set', async () => {
  const scene = await tenant([]);
  const chat = new Chat(stack, { role: 'sentinel' });
  const answer = await chat.tool('a', 'execute', {});
  expect(answer.body.permission.reason).toMatch(/no profile for the role sentinel.*roleProfiles/);
  expect((await chat.send('stop', {})).text).toBe('{}');
  expect(await auditOf(scene, answer.dispatchId)).toMatchObject([{ data: { decision: 'deny' } }]);
});

const unsigned = (name: string): Spoiled => ({ claims: { [name]: undefined } });

test.each<[string, number, (chat: Chat) => Spoiled]>([
  ['no key id', 401, () => ({ header: { kid: undefined } })],
  ['the key id of another tenant', 401, () => ({ header: { kid: 'other.1' } })],
  ['a generation that is not installed', 401, () => ({ header: { kid: `${stack.tenant}.9` } })],
  ['another secret', 401, () => ({ secret: 'another-secret-of-enough-bytes-for-anybody-x' })],
  ['typ missing', 401, () => ({ header: { typ: undefined } })],
  ['no role', 401, () => unsigned('role')],
  ['no deadline', 401, () => unsigned('deadline')],
  ['a role that is none', 401, () => ({ claims: { role: 'a b' } })],
  ['expired', 401, () => ({ claims: { exp: 1_000 } })],
  ['another audience', 400, () => ({ claims: { aud: 'https://elsewhere.example.com' } })],
  ['a changed byte', 400, () => ({ sent: (text) => text.replace('execute', 'executf') })],
  ['more than 10 MiB', 413, () => ({ sent: () => 'x'.repeat(10 * 1024 * 1024 + 1) })],
])(
  'a request with %s is refused with %i, unsigned, and nothing is made of it',
  async (_what, status, spoiled) => {
    await tenant([]);
    const chat = new Chat(stack);
    const answer = await chat.tool('a', 'execute', {}, spoiled(chat));
    expect([answer.status, answer.signature]).toEqual([status, null]);
    expect(answer.text).not.toContain(HOOK_SECRET);
  },
);

test('another method is refused with what is allowed; any Content-Type will do, up to 10 MiB', async () => {
  await tenant([]);
  const chat = new Chat(stack);
  const url = `${stack.nexus.url}/experimental/hooks/chat`;
  const get = await fetch(url);
  expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
  const big = { tool_use_id: 'a', tool_name: 'execute', tool_response: 'x'.repeat(9 * 1024 * 1024) };
  const { authorization = '', bytes } = await chat.request('post_tool_use', big);
  for (const type of ['text/plain', 'application/xml']) {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { authorization, 'content-type': type },
      body: bytes,
    });
    expect([answer.status, await answer.text()]).toEqual([200, '{}']);
  }
});

test('of the installed keys the newest two are accepted, and a retired one opens nothing', async () => {
  const scene = await tenant([]);
  const chat = new Chat(stack);
  const status = async (generation: number) =>
    (await chat.send('stop', {}, { header: { kid: `${stack.tenant}.${generation}` } })).status;
  const install = (generation: number) =>
    scene.admin.put(`/v1/hook-keys/${generation}`, { secret: HOOK_SECRET });
  expect((await install(2)).status).toBe(200);
  expect([await status(1), await status(2)]).toEqual([200, 200]);
  await install(3);
  expect([await status(1), await status(2), await status(3)]).toEqual([401, 200, 200]);
  expect((await scene.admin.delete('/v1/hook-keys/3')).status).toBe(204);
  expect([await status(1), await status(2), await status(3)]).toEqual([200, 200, 401]);
  expect((await scene.admin.put('/v1/hook-keys/2', { secret: `${HOOK_SECRET}x` })).status).toBe(409);
  expect((await scene.admin.put('/v1/hook-keys/4', { secret: 'short' })).status).toBe(422);
  expect((await scene.agent.put('/v1/hook-keys/4', { secret: HOOK_SECRET })).status).toBe(403);
  for (const generation of [2, 3]) await scene.admin.delete(`/v1/hook-keys/${generation}`);
});
