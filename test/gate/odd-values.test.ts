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
const callWith = (tool: string, input: string, { agent, threadId } = scene) =>
  agent.post(`/v1/threads/${threadId}/tool-calls`, `{"tool":${tool},"input":${input}}`);

const objects = (levels: number): string => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const MIB = 1_048_576;
/** A JSON string of so many bytes, quotes included. */
const textOf = (bytes: number): string => JSON.stringify('x'.repeat(bytes - 2));
/** As many bytes, nearly all of them in characters of two. */
const wideTextOf = (bytes: number): string =>
  JSON.stringify('é'.repeat(Math.floor((bytes - 2) / 2)) + 'x'.repeat(bytes % 2));
/** A receiver's answer as this text. */
const answering = (text: string): void =>
  receiver.behave((_, response) => {
    response.writeHead(200).end(text);
    return undefined;
  });
/** What every object would have if one had been polluted. */
const polluted = (): unknown => (({}) as Record<string, unknown>)['polluted'];

describe('what is kept arrives unchanged', () => {
  test.each([
    ['NUL', '"a\\u0000b"'],
    ['2^53-1', '9007199254740991'],
    ['the least number', '5e-324'],
    ['-0 as 0', '-0'],
    ['__proto__ and the like as members, three deep', '{"a":{"__proto__":{"constructor":{"toString":1}}}}'],
    ['__proto__ as a member that holds an object', '{"__proto__":{"polluted":true}}'],
    ['constructor.prototype as members', '{"a":[{"constructor":{"prototype":{"polluted":true}}}]}'],
    ['an emoji', '"\\ud83d\\ude00"'],
    ['128 levels', nested(128)],
    ['128 levels of objects', objects(128)],
    ['1 MiB', textOf(MIB)],
    ['1 MiB that are half as many characters', wideTextOf(MIB)],
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
    expect(polluted()).toBeUndefined();
  });
});

/** Each with the place of its fault in the value, where that is one place. */
const UNKEPT: readonly [string, string, string | undefined][] = [
  ['a lone surrogate', '"\\ud800"', ''],
  ['a lone surrogate in a name', '{"\\udc00":1}', '/�'],
  ['surrogates in the wrong order', '["\\ude00\\ud83d"]', '/0'],
  ['2^53+1', '9007199254740993', ''],
  ['-2^53', '-9007199254740992', ''],
  ['an integer as a power of ten', '[1e16]', '/0'],
  ['a number beyond all numbers', '1e999', ''],
  ['129 levels', nested(129), undefined],
  ['129 levels of objects', objects(129), undefined],
  ['1 MiB and a byte', textOf(MIB + 1), ''],
  ['1 MiB and a byte that are half as many characters', wideTextOf(MIB + 1), ''],
  ['a short text of numbers that are long in JSON', `[${'9e15,'.repeat(100_000)}1]`, ''],
  ['a repeated name', '{"a":1,"a":2}', '/a'],
];

const typesIn = async (thread: Scene) => (await thread.events()).map(({ type }) => type);

describe('what cannot be kept is refused at the door with 422, and nothing is stored', () => {
  test.each(UNKEPT)('%s', async (_, json, pointer) => {
    const fresh = await scene.newThread();
    const made = await callWith('"t"', json, fresh);
    expect(made.status).toBe(422);
    if (pointer !== undefined) expect(made.body.errors[0].pointer).toBe(`/input${pointer}`);
    expect(await typesIn(fresh)).toEqual(['thread_created']);
  });

  test.each(UNKEPT)('as an output: %s; the call waits for another', async (_, json, pointer) => {
    const fresh = await scene.newThread();
    const made = await callWith('"t"', '1', fresh);
    const path = `/v1/threads/${fresh.threadId}/tool-calls/${made.body.id}/output`;
    const before = await typesIn(fresh);
    const refused = await scene.agent.post(path, `{"output":${json}}`);
    expect(refused.status).toBe(422);
    if (pointer !== undefined) expect(refused.body.errors[0].pointer).toBe(`/output${pointer}`);
    expect(await typesIn(fresh)).toEqual(before);
    expect((await scene.agent.post(path, { output: 1 })).body).toMatchObject({
      status: 'completed',
      output: 1,
    });
  });

  test.each([
    ['an empty name', '""'],
    ['white space', '" "'],
    ['a name with a space before it', '" t"'],
    ['a control character', '"a\\u0007"'],
    ['257 characters', JSON.stringify('x'.repeat(257))],
    ['a number', '1'],
    ['null', 'null'],
    ['an array', '["t"]'],
    ['nothing', undefined],
  ])('the tool name: %s', async (_, tool) => {
    const fresh = await scene.newThread();
    const path = `/v1/threads/${fresh.threadId}/tool-calls`;
    const made =
      tool === undefined ? await scene.agent.post(path, { input: {} }) : await callWith(tool, '{}', fresh);
    expect(made.status).toBe(422);
    expect(made.body.errors).toMatchObject([{ pointer: '/tool' }]);
    expect(await typesIn(fresh)).toEqual(['thread_created']);
  });

  test('a tool name of 256 characters is none of these', async () => {
    const name = 'x'.repeat(256);
    expect((await callWith(JSON.stringify(name), '{}')).body).toMatchObject({
      status: 'allowed',
      tool: name,
    });
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

test.each(['__proto__', 'constructor', 'toString'])(
  '%s is an ordinary id of a hook that is asked by HTTP, and an ordinary member of what it is told',
  async (name) => {
    receiver.behave(() => ({ decision: 'deny' }));
    const odd = await Scene.set(stack, [{ id: name, url: receiver.url, tools: [name] }]);
    const input = `{"a":{"b":{"${name}":{"polluted":true}}}}`;
    const path = `/v1/threads/${odd.threadId}/tool-calls`;
    const made = await odd.agent.post(path, `{"tool":"${name}","input":${input}}`);
    expect(made.body).toMatchObject({ status: 'denied', tool: name, denial: { hookId: name } });
    const told = receiver.received.at(-1)!;
    expect(told.input).toMatchObject({ hookId: name, tool: name });
    expect(told.text).toContain(`"input":${input}`);
    const [decision] = await odd.eventsOf(made.body.id, 'hook_decision');
    expect(decision!.data.hookId).toBe(name);
    expect(polluted()).toBeUndefined();
  },
);

describe('a rewrite by a hook arrives unchanged', () => {
  const start = { before_tool_call: '{"decision":"allow","updatedInput":', after_tool_call: '' };
  start.after_tool_call = start.before_tool_call.replace('Input', 'Output');
  /** The largest that fits into an answer of 1 MiB. */
  const largest = textOf(MIB - start.after_tool_call.length - 1);

  test.each<[string, string]>([
    ['__proto__ three deep', '{"a":{"b":{"__proto__":{"polluted":true}}}}'],
    ['constructor three deep', '{"a":{"b":{"constructor":{"prototype":{"polluted":true}}}}}'],
    ['toString three deep', '{"a":{"b":{"toString":1}}}'],
    ['NUL', '"a\\u0000b"'],
    ['2^53-1', '9007199254740991'],
    ['128 levels', nested(128)],
    ['all that an answer can hold', largest],
    ...[false, 0, '', null, [], {}].map((value): [string, string] => [
      JSON.stringify(value),
      JSON.stringify(value),
    ]),
  ])('%s', async (_, json) => {
    const odd = await Scene.set(stack, [
      { id: 'h', url: receiver.url },
      { id: 'after', point: 'after_tool_call', url: receiver.url },
    ]);
    answering(`${start.before_tool_call}${json}}`);
    const made = await odd.call('t', 'something');
    expect(made.body.status).toBe('allowed');
    expect(JSON.stringify(made.body.input)).toBe(json);
    const [decision] = await odd.eventsOf(made.body.id, 'hook_decision');
    expect(decision!.data.rewrote).toBe(true);
    answering(`${start.after_tool_call}${json}}`);
    const done = await odd.output(made.body.id, { output: 'something' });
    expect(done.body.status).toBe('completed');
    expect(JSON.stringify(done.body.output)).toBe(json);
    expect(polluted()).toBeUndefined();
  });

  test('an answer of 1 MiB and a byte is none', async () => {
    const odd = await Scene.set(stack, [{ id: 'h', url: receiver.url }]);
    answering(`${start.before_tool_call}${textOf(MIB - start.before_tool_call.length)}}`);
    expect((await odd.call('t', 1)).body).toMatchObject({
      status: 'denied',
      denial: { by: 'hook_failure', reason: { code: 'answer_too_large' } },
    });
  });
});

/** Fits into an answer, and is more than 3 MiB of JSON: each number is written out when it is kept. */
const GROWING = `[${'9e15,'.repeat(200_000)}1]`;

test('a rewrite whose JSON is more than 1 MiB is no answer, however short the hook wrote it', async () => {
  const odd = await Scene.set(stack, [{ id: 'h', url: receiver.url }]);
  answering(`{"decision":"allow","updatedInput":${GROWING}}`);
  const { status, denial } = (await odd.call('t', 1)).body;
  expect({ status, denial }).toMatchObject({ status: 'denied', denial: { by: 'hook_failure' } });
});

test('after the tool, a rewrite whose JSON is more than 1 MiB is no answer', async () => {
  const odd = await Scene.set(stack, [{ id: 'h', point: 'after_tool_call', url: receiver.url }]);
  const made = await odd.call('t', 1);
  answering(`{"decision":"allow","updatedOutput":${GROWING}}`);
  const { status, denial } = (await odd.output(made.body.id)).body;
  expect({ status, denial }).toMatchObject({ status: 'denied', denial: { by: 'hook_failure' } });
});

test.each([
  ['1 MiB and a byte', textOf(MIB + 1)],
  ['more JSON than was written', GROWING],
])('a late answer with a rewrite of %s is refused with 422', async (_, json) => {
  receiver.behave((_received, response) => {
    response.writeHead(202).end();
    return undefined;
  });
  const odd = await Scene.set(stack, [{ id: 'h', url: receiver.url }]);
  const made = await odd.call('t', 1);
  const { url, token } = receiver.received.at(-1)!.input.callback;
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: `{"decision":"allow","updatedInput":${json}}`,
  });
  expect(answer.status).toBe(422);
  expect((await odd.read(made.body.id)).body.status).toBe('waiting');
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
  // The name itself is asked about.
  expect((await guarded.call('payments.transfer', {})).body.pendingWaits).toMatchObject([
    { hookId: 'person' },
  ]);
});

test('the digest is SHA-256 over the RFC 8785 form of point, tool and value', async () => {
  const input =
    '{"peach":"This sorting order","péché":"is wrong according to French","a":[56.0,{"d":1.5e-7,"10":null,"1":[]}],"\\u20ac":"Euro"}';
  const made = await callWith('"t"', input);
  const canonical =
    '{"point":"before_tool_call","tool":"t","value":{"a":[56,{"1":[],"10":null,"d":1.5e-7}],"peach":"This sorting order","péché":"is wrong according to French","€":"Euro"}}';
  expect(made.body.subjectDigest).toBe(createHash('sha256').update(canonical).digest('hex'));
});

/** RFC 8785 in short: members by UTF-16 code units, everything else as ECMAScript writes it. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`;
}

test.each([
  // The sample of RFC 8785 §3.2.3: surrogate pairs sort before U+FB33.
  '{"\\u20ac":"Euro","\\r":"CR","\\ufb33":"Dalet","1":"One","\\ud83d\\ude00":"Emoji","\\u0080":"Control","\\u00f6":"O"}',
  '[1e-6,1e-7,0.1,-0,1.50,333333333.33333329,4.5e0,2e-3,5e-324]',
  '"\\u000f\\u007f\\u2028\\"\\\\/\\b\\t"',
  '{"__proto__":{"b":1,"a":2},"toString":[{}]}',
])('the digest of %s is as computed here, before and after the tool, and after a rewrite', async (json) => {
  const digest = (point: string, value: unknown): string =>
    createHash('sha256')
      .update(canonical({ value, tool: 'té', point }))
      .digest('hex');
  receiver.behave(() => ({ decision: 'deny' }));
  const odd = await Scene.set(stack, [
    { id: 'h', url: receiver.url },
    { id: 'after', point: 'after_tool_call', url: receiver.url },
  ]);
  const value: unknown = JSON.parse(json);
  answering(`{"decision":"defer","updatedInput":[${json}]}`);
  const made = await odd.agent.post(
    `/v1/threads/${odd.threadId}/tool-calls`,
    `{"tool":"té","input":${json}}`,
  );
  expect(receiver.received.at(-1)!.input.subjectDigest).toBe(digest('before_tool_call', value));
  expect(made.body.subjectDigest).toBe(digest('before_tool_call', [value]));
  await odd.agent.post(`/v1/threads/${odd.threadId}/tool-calls/${made.body.id}/output`, `{"output":${json}}`);
  expect(receiver.received.at(-1)!.input.subjectDigest).toBe(digest('after_tool_call', value));
  const [decision] = await odd.eventsOf(made.body.id, 'hook_decision');
  expect(decision!.data).toMatchObject({
    digestBefore: digest('before_tool_call', value),
    digestAfter: digest('before_tool_call', [value]),
  });
});
