import { randomUUID } from 'node:crypto';
import { HEADER_SECRET } from '../support/hook-service';
import { startToolServer, type ToolServer } from '../support/tool-server';
import { Scene, type SceneHook } from '../support/scene';
import { startStack, type Stack } from '../support/stack';
import { placesWith } from '../support/everywhere';

let stack: Stack;
let server: ToolServer;

beforeAll(async () => {
  stack = await startStack();
});
beforeEach(async () => {
  server = await startToolServer();
});
afterEach(async () => {
  await server.close();
});
afterAll(async () => {
  await stack.stop();
});

const INPUT_SCHEMA = {
  type: 'object',
  properties: { orderId: { type: 'string' }, amount: { type: 'number' } },
  required: ['orderId'],
};

function refundTool(more: object = {}) {
  return {
    kind: 'http',
    name: 'orders.refund',
    method: 'POST',
    url: `${server.url}/orders/{orderId}/refunds`,
    inputSchema: INPUT_SCHEMA,
    ...more,
  };
}

const scene = (hooks: readonly SceneHook[], tools: readonly object[] = [refundTool()]): Promise<Scene> =>
  Scene.set(stack, hooks, undefined, { tools });

/** A call that the service runs, until it has ended or is parked. */
async function run(
  at: Scene,
  input: unknown,
  { tool = 'orders.refund', key = randomUUID(), seconds = 20 } = {},
) {
  const headers = { 'idempotency-key': key, prefer: `wait=${seconds}` };
  return at.call(tool, input, headers, { execution: 'server' });
}

test('a tool that nobody objects to runs once, with the rest of its input as body and a key that names the call', async () => {
  const at = await scene([]);
  const { status, body } = await run(at, { orderId: 'a b/c', amount: 5 });
  expect([status, body.status, body.executed, body.execution]).toEqual([200, 'completed', true, 'server']);
  expect(body.output).toEqual({ status: 200, contentType: 'application/json', json: { ok: true } });
  expect(server.seen).toHaveLength(1);
  const [sent] = server.seen;
  expect([sent?.method, sent?.path, sent?.text]).toEqual([
    'POST',
    '/orders/a%20b%2Fc/refunds',
    '{"amount":5}',
  ]);
  expect(sent?.headers['idempotency-key']).toBe(body.id);
  const types = (await at.eventsOf(body.id)).map(({ type }) => type);
  expect(types).toEqual(['tool_call_started', 'tool_started', 'tool_finished', 'tool_call_finished']);
});

test('a repeat under the key runs nothing and gets the result; without a key the call is refused', async () => {
  const at = await scene([]);
  const key = randomUUID();
  const first = await run(at, { orderId: '1' }, { key });
  const again = await run(at, { orderId: '1' }, { key });
  expect(again.body).toEqual(first.body);
  expect(server.seen).toHaveLength(1);
  const keyless = await at.call('orders.refund', { orderId: '1' }, {}, { execution: 'server' });
  expect([keyless.status, keyless.body.errors[0].pointer]).toEqual([400, '/Idempotency-Key']);
  expect(server.seen).toHaveLength(1);
});

test('what a person approved after an edit is what runs, and a denied tool never runs', async () => {
  const at = await scene([{ id: 'person' }]);
  const key = randomUUID();
  const parked = await at.call(
    'orders.refund',
    { orderId: '1', amount: 900 },
    { 'idempotency-key': key },
    {
      execution: 'server',
    },
  );
  expect([parked.status, parked.body.status]).toEqual([202, 'waiting']);
  expect(server.seen).toHaveLength(0);
  await at.resolve(parked.body.pendingWaits[0].id, {
    decision: 'allow',
    updatedInput: { orderId: '2', amount: 9 },
  });
  const done = await at.read(parked.body.id, 20);
  expect(done.body).toMatchObject({ status: 'completed', input: { orderId: '2', amount: 9 } });
  expect(server.seen.map(({ path, text }) => [path, text])).toEqual([['/orders/2/refunds', '{"amount":9}']]);

  const other = await at.call(
    'orders.refund',
    { orderId: '3' },
    { 'idempotency-key': randomUUID() },
    { execution: 'server' },
  );
  await at.resolve(other.body.pendingWaits[0].id, { decision: 'deny', reason: 'no' });
  expect((await at.read(other.body.id, 20)).body).toMatchObject({
    status: 'denied',
    denial: { by: 'human', executed: false },
  });
  expect(server.seen).toHaveLength(1);
});

test.each([
  ['null', 'application/json', 'null', { json: null }],
  ['an empty body', undefined, '', { text: '' }],
  ['an empty string', 'application/json', '""', { json: '' }],
  ['text', 'text/plain; charset=utf-8', 'häß\u0000', { text: 'häß\u0000' }],
  ['bytes', 'application/octet-stream', Buffer.from([0xff, 0, 0xfe]), { base64: '/wD+' }],
  [
    'an integer that JSON would lose',
    'application/json',
    '{"n":9007199254740993}',
    { text: '{"n":9007199254740993}' },
  ],
  ['a repeated member', 'application/json', '{"a":1,"a":2}', { text: '{"a":1,"a":2}' }],
  [
    'names of Object',
    'application/problem+json',
    '{"__proto__":{"x":1}}',
    { json: JSON.parse('{"__proto__":{"x":1}}') },
  ],
])('an answer of %s is kept as it is', async (_what, type, body, kept) => {
  server.behave((_, response) => {
    response.writeHead(200, type === undefined ? {} : { 'content-type': type });
    response.end(body);
    return undefined;
  });
  const at = await scene([]);
  const { body: call } = await run(at, { orderId: '1' });
  expect(call.status).toBe('completed');
  const { status, contentType, ...rest } = call.output;
  expect(rest).toEqual(kept);
  expect([status, contentType]).toEqual([200, type]);
  expect(({} as { x?: number }).x).toBeUndefined();
});

test('an answer of 3 MiB is not cut: the tool has run, and that is said', async () => {
  server.behave((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify('x'.repeat(3 * 1024 * 1024)));
    return undefined;
  });
  const at = await scene([]);
  const { body } = await run(at, { orderId: '1' });
  expect(body).toMatchObject({
    status: 'failed',
    executed: true,
    error: { code: 'result_too_large', executed: true },
  });
  expect(server.seen).toHaveLength(1);
});

test('an answer of exactly the limit is kept, and one byte more is not', async () => {
  const at = await scene([]);
  const envelope = JSON.stringify({ status: 200, contentType: 'text/plain', text: '' }).length;
  for (const [more, status] of [
    [0, 'completed'],
    [1, 'failed'],
  ] as const) {
    server.behave((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.end('x'.repeat(1_048_576 - envelope + more));
      return undefined;
    });
    expect((await run(at, { orderId: '1' })).body.status).toBe(status);
  }
});

test.each([
  ['404', 404, 'failed', true],
  ['500', 500, 'failed', true],
  ['a redirect', 302, 'failed', true],
])(
  'an answer of status %s fails the call with what the server said, and is not tried again',
  async (_w, code, status, executed) => {
    server.behave((_, response) => {
      response.writeHead(code, { 'content-type': 'application/json', location: `${server.url}/elsewhere` });
      response.end('{"why":"so"}');
      return undefined;
    });
    const at = await scene([]);
    const { body } = await run(at, { orderId: '1' });
    expect(body).toMatchObject({
      status,
      executed,
      error: { code: 'http_status', executed, response: { status: code, json: { why: 'so' } } },
    });
    expect(server.seen).toHaveLength(1);
  },
);

test('a server that hangs up in the middle leaves the outcome unknown, and the tool is not run again', async () => {
  server.behave((_, response) => {
    response.destroy();
    return undefined;
  });
  const at = await scene([]);
  const { body } = await run(at, { orderId: '1' });
  expect(body).toMatchObject({
    status: 'failed',
    executed: 'unknown',
    error: { code: 'outcome_unknown', executed: 'unknown' },
  });
  expect(server.seen).toHaveLength(1);
});

test('a server that takes too long leaves the outcome unknown', async () => {
  server.behave(() => new Promise(() => undefined));
  const at = await scene([], [refundTool({ timeoutMs: 300 })]);
  const { body } = await run(at, { orderId: '1' });
  expect(body).toMatchObject({ status: 'failed', executed: 'unknown', error: { code: 'outcome_unknown' } });
  expect(server.seen).toHaveLength(1);
});

test('a server that cannot be reached has run nothing, and that is said', async () => {
  const at = await scene([]);
  await server.close();
  const { body } = await run(at, { orderId: '1' });
  expect(body).toMatchObject({
    status: 'failed',
    executed: false,
    error: { code: 'connection_refused', executed: false },
  });
});

test('headers name secrets, whose values are sent and found nowhere else', async () => {
  const headers = { authorization: { secret: 'header', prefix: 'Bearer ' }, 'x-plain': 'yes' };
  server.behave(({ headers: sent }) => ({ echo: sent.authorization }));
  const at = await scene([], [refundTool({ headers })]);
  const { body } = await run(at, { orderId: '1' });
  expect(body.status).toBe('completed');
  expect(server.seen[0]?.headers).toMatchObject({
    authorization: `Bearer ${HEADER_SECRET}`,
    'x-plain': 'yes',
  });
  // The tool itself gave it away; in history, events and the audit it is nowhere.
  const places = await placesWith(at, body.id, HEADER_SECRET);
  expect(places.filter((place) => place === 'history' || place === 'events')).toEqual([]);
});

test('a secret that is not mapped, or not for this host, runs nothing', async () => {
  for (const secret of ['nowhere', 'elsewhere']) {
    const at = await scene([], [refundTool({ headers: { authorization: { secret } } })]);
    const { body } = await run(at, { orderId: '1' });
    expect(body).toMatchObject({ status: 'failed', executed: false });
    expect(body.error.code).toMatch(/^secret_/);
  }
  expect(server.seen).toHaveLength(0);
});

test('a GET sends the rest of its input as query; a value that no query holds is refused', async () => {
  const tool = { kind: 'http', name: 'find', method: 'GET', url: `${server.url}/find?v=1` };
  const at = await scene([], [tool]);
  const found = await run(at, { q: 'a&b=c', tags: ['x', 'y'], n: 2 }, { tool: 'find' });
  expect(found.body.status).toBe('completed');
  expect(server.seen[0]?.path).toBe('/find?v=1&q=a%26b%3Dc&tags=x&tags=y&n=2');
  const refused = await run(at, { q: { deep: 1 } }, { tool: 'find' });
  expect(refused.body).toMatchObject({
    status: 'failed',
    executed: false,
    error: { code: 'input_invalid' },
  });
  expect(server.seen).toHaveLength(1);
});

test('an input that the schema refuses, and a tool that the profile does not have, are refused at the door', async () => {
  const at = await scene([{ id: 'person' }]);
  const refused = await run(at, { amount: 1 });
  expect([refused.status, refused.body.errors[0].pointer]).toEqual([422, '/input']);
  const unknown = await run(at, {}, { tool: 'orders.unknown' });
  expect([unknown.status, unknown.body.errors[0].pointer]).toEqual([422, '/tool']);
  expect(server.seen).toHaveLength(0);
});

test('a path parameter can be no other resource: dots and emptiness are refused before anything is sent', async () => {
  const at = await scene([]);
  for (const orderId of ['..', '.', '']) {
    const { body } = await run(at, { orderId });
    expect(body).toMatchObject({ status: 'failed', executed: false, error: { code: 'input_invalid' } });
  }
  expect(server.seen).toHaveLength(0);
});

/** A call whose tool has run, and whose result waits for a person. */
async function parkedAfter(at: Scene) {
  const made = await run(at, { orderId: '1' }, { seconds: 0 });
  for (;;) {
    const { body } = await at.read(made.body.id);
    if (body.pendingWaits.length > 0) return body;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('hooks after the tool judge what it gave, and a denial says that the tool has run', async () => {
  const at = await scene([{ id: 'after', point: 'after_tool_call' }]);
  server.behave(() => ({ secret: 'WITHHELD-4711' }));
  const body = await parkedAfter(at);
  await at.resolve(body.pendingWaits[0].id, { decision: 'deny' });
  const done = await at.read(body.id, 20);
  expect(done.body).toMatchObject({ status: 'denied', executed: true, denial: { executed: true } });
  expect(await placesWith(at, body.id, 'WITHHELD-4711')).toEqual([]);
});

test('a denial after an unknown outcome does not claim that the tool has run', async () => {
  server.behave((_, response) => {
    response.destroy();
    return undefined;
  });
  const at = await scene([{ id: 'after', point: 'after_tool_call' }]);
  const parked = await parkedAfter(at);
  await at.resolve(parked.pendingWaits[0].id, { decision: 'deny' });
  const { body } = await at.read(parked.id, 20);
  expect(body).toMatchObject({ status: 'denied', executed: 'unknown', denial: { executed: 'unknown' } });
  expect(body.denial.reason.text).toMatch(/may have run/);
});

test('a call that is given up while its tool runs ends, and says that nobody knows', async () => {
  let arrived!: () => void;
  const begun = new Promise<void>((resolve) => (arrived = resolve));
  server.behave(() => {
    arrived();
    return new Promise(() => undefined);
  });
  const at = await scene([]);
  const made = await at.call(
    'orders.refund',
    { orderId: '1' },
    { 'idempotency-key': randomUUID() },
    { execution: 'server' },
  );
  expect([made.status, made.body.status]).toEqual([202, 'running']);
  await begun;
  const given = await at.agent.delete(`/v1/threads/${at.threadId}/tool-calls/${made.body.id}`);
  expect(given.body).toMatchObject({ status: 'cancelled', denial: { by: 'cancelled', executed: 'unknown' } });
  expect(server.seen).toHaveLength(1);
});

test('a result from outside is refused for a call that the service runs', async () => {
  server.behave(() => new Promise(() => undefined));
  const at = await scene([]);
  const made = await at.call(
    'orders.refund',
    { orderId: '1' },
    { 'idempotency-key': randomUUID() },
    { execution: 'server' },
  );
  const told = await at.output(made.body.id);
  expect([told.status, told.body.type]).toEqual([409, expect.stringContaining('runs-here')]);
  await at.agent.delete(`/v1/threads/${at.threadId}/tool-calls/${made.body.id}`);
});

test('a decision that its caller was told is pending runs nothing before the same request picks it up', async () => {
  const at = await scene([{ id: 'person' }]);
  const headers = { prefer: 'wait=0, pending=deny' };
  const ask = (key: string) =>
    at.call(
      'orders.refund',
      { orderId: '7' },
      { ...headers, 'idempotency-key': key },
      { execution: 'server' },
    );
  const pending = await ask('one');
  expect(pending.body).toMatchObject({ status: 'denied', denial: { by: 'pending', executed: false } });
  const [wait] = (await at.thread()).body.pendingWaits;
  await at.resolve(wait.id, { decision: 'allow' });
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(server.seen).toHaveLength(0);
  const picked = await at.call(
    'orders.refund',
    { orderId: '7' },
    { prefer: 'wait=20, pending=deny', 'idempotency-key': 'two' },
    { execution: 'server' },
  );
  const done = await at.read(picked.body.id, 20);
  expect(done.body.status).toBe('completed');
  expect(server.seen).toHaveLength(1);
});
