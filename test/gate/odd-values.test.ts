import { createHash } from 'node:crypto';
import { startReceiver, type Receiver } from '../support/receiver';
import { Scene } from '../support/scene';
import { startStack, type Stack } from '../support/stack';

let stack: Stack;
let receiver: Receiver;
let scene: Scene;

beforeAll(async () => {
  stack = await startStack();
  receiver = await startReceiver();
  scene = await Scene.set(stack, []);
});
afterAll(async () => {
  await stack.stop();
  await receiver.close();
});

/** A call whose body is this text, which no JSON.stringify would make. */
const callWith = (tool: string, input: string) =>
  scene.agent.post(`/v1/threads/${scene.threadId}/tool-calls`, `{"tool":${tool},"input":${input}}`);

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const MIB = 1_048_576;
/** A JSON string of so many bytes, quotes included. */
const textOf = (bytes: number): string => JSON.stringify('x'.repeat(bytes - 2));

describe('what is kept arrives unchanged', () => {
  test.each([
    ['NUL', '"a\\u0000b"'],
    ['2^53-1', '9007199254740991'],
    ['the least number', '5e-324'],
    ['-0 as 0', '0'],
    ['__proto__ and the like as members, three deep', '{"a":{"__proto__":{"constructor":{"toString":1}}}}'],
    ['an emoji', '"\\ud83d\\ude00"'],
    ['128 levels', nested(128)],
    ['1 MiB', textOf(MIB)],
  ])('%s', async (_, json) => {
    const made = await callWith('"t"', json);
    expect(made.status).toBe(200);
    expect(JSON.stringify(made.body.input)).toBe(JSON.stringify(JSON.parse(json)));
    const done = await scene.agent.post(
      `/v1/threads/${scene.threadId}/tool-calls/${made.body.id}/output`,
      `{"output":${json}}`,
    );
    expect(JSON.stringify(done.body.output)).toBe(JSON.stringify(JSON.parse(json)));
    expect(({} as Record<string, unknown>)['constructor']).toBe(Object);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('what cannot be kept is refused at the door with 422, and nothing is stored', () => {
  test.each([
    ['a lone surrogate', '"\\ud800"', '/input'],
    ['a lone surrogate in a name', '{"\\udc00":1}', '/input/�'],
    ['2^53+1', '9007199254740993', '/input'],
    ['129 levels', nested(129), undefined],
    ['1 MiB and a byte', textOf(MIB + 1), '/input'],
    ['a repeated name', '{"a":1,"a":2}', '/input/a'],
  ])('%s', async (_, json, pointer) => {
    const before = (await scene.events()).length;
    const made = await callWith('"t"', json);
    expect(made.status).toBe(422);
    if (pointer !== undefined) expect(made.body.errors[0].pointer).toBe(pointer);
    expect((await scene.events()).length).toBe(before);
  });

  test.each([
    ['an empty name', '""'],
    ['white space', '" "'],
    ['a name with a space before it', '" t"'],
    ['a control character', '"a\\u0007"'],
    ['257 characters', JSON.stringify('x'.repeat(257))],
    ['a number', '1'],
    ['null', 'null'],
  ])('the tool name: %s', async (_, tool) => {
    const made = await callWith(tool, '{}');
    expect(made.status).toBe(422);
    expect(made.body.errors).toMatchObject([{ pointer: '/tool' }]);
  });

  test('no tool name at all', async () => {
    const made = await scene.agent.post(`/v1/threads/${scene.threadId}/tool-calls`, { input: {} });
    expect(made.status).toBe(422);
  });

  test('an output of 1 MiB and a byte; the call goes on', async () => {
    const made = await callWith('"t"', '1');
    const path = `/v1/threads/${scene.threadId}/tool-calls/${made.body.id}/output`;
    const refused = await scene.agent.post(path, `{"output":${textOf(MIB + 1)}}`);
    expect(refused.status).toBe(422);
    expect(refused.body.errors).toMatchObject([{ pointer: '/output' }]);
    expect((await scene.agent.post(path, { output: 1 })).body.status).toBe('completed');
  });

  test('a body that is larger than any value is 413', async () => {
    expect((await callWith('"t"', textOf(2 * MIB))).status).toBe(413);
  });
});

test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
  '%s is an ordinary tool, hook id and permission id',
  async (name) => {
    const odd = await Scene.set(stack, [{ id: name, tools: [name] }], undefined, {
      permissions: [{ id: name, effect: 'deny', tools: [`${name}.never`] }],
    });
    const parked = await odd.call(name, { [name]: name });
    expect(parked.body.pendingWaits).toMatchObject([{ hookId: name, tool: name }]);
    await odd.resolve(parked.body.pendingWaits[0].id, { decision: 'allow' });
    expect((await odd.read(parked.body.id)).body.status).toBe('allowed');
    expect((await odd.call(`${name}.never`, {})).body.denial).toMatchObject({
      by: 'permission',
      hookId: name,
    });
    expect((await odd.call('free', {})).body.status).toBe('allowed');
  },
);

test('a rewrite by a hook keeps __proto__ as a member, and pollutes nothing', async () => {
  receiver.behave((_, response) => {
    response.writeHead(200).end('{"decision":"allow","updatedInput":{"a":{"__proto__":{"polluted":true}}}}');
    return undefined;
  });
  const odd = await Scene.set(stack, [{ id: 'h', url: receiver.url }]);
  const made = await odd.call('t', {});
  expect(JSON.stringify(made.body.input)).toBe('{"a":{"__proto__":{"polluted":true}}}');
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test.each([false, 0, '', null, [], {}])('a rewrite to %j arrives as that', async (value) => {
  receiver.behave(() => ({ decision: 'defer', updatedInput: value }));
  const odd = await Scene.set(stack, [{ id: 'h', url: receiver.url }]);
  const made = await odd.call('t', 'something');
  expect(made.body).toMatchObject({ status: 'allowed', input: value });
  const [decision] = await odd.eventsOf(made.body.id, 'hook_decision');
  expect(decision!.data.rewrote).toBe(true);
});

test('no rewrite is another thing than a rewrite to null', async () => {
  receiver.behave(() => ({ decision: 'defer' }));
  const odd = await Scene.set(stack, [{ id: 'h', url: receiver.url }]);
  const made = await odd.call('t', 'something');
  expect(made.body.input).toBe('something');
  const [decision] = await odd.eventsOf(made.body.id, 'hook_decision');
  expect(decision!.data).not.toHaveProperty('rewrote');
});

test.each([
  ['another case', 'Payments.transfer'],
  ['a full-width full stop', 'payments．transfer'],
  ['a zero-width joiner', 'payments\u200d.transfer'],
  ['a Cyrillic letter', 'p\u0430yments.transfer'],
  ['a composed letter for a decomposed one', 'caf\u00e9'],
])('a look-alike by %s is another tool: no rule names it, and it does not run', async (_, tool) => {
  const guarded = await Scene.set(
    stack,
    [{ id: 'person', tools: ['payments.transfer', 'cafe\u0301'] }],
    undefined,
    { unmatchedTools: 'deny' },
  );
  const made = await guarded.call(tool, {});
  expect(made.body).toMatchObject({ status: 'denied', denial: { hookId: 'unmatchedTools' }, tool });
});

test('the digest is SHA-256 over the RFC 8785 form of point, tool and value', async () => {
  const input =
    '{"peach":"This sorting order","péché":"is wrong according to French","a":[56.0,{"d":1.5e-7,"10":null,"1":[]}],"\\u20ac":"Euro"}';
  const made = await callWith('"t"', input);
  const canonical =
    '{"point":"before_tool_call","tool":"t","value":{"a":[56,{"1":[],"10":null,"d":1.5e-7}],"peach":"This sorting order","péché":"is wrong according to French","€":"Euro"}}';
  expect(made.body.subjectDigest).toBe(createHash('sha256').update(canonical).digest('hex'));
});
