import { gzipSync } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { ModelCaller, type ModelRequest } from '../../src/model/model-caller';
import { NOTHING_ALLOWED } from '../../src/outbound/address-rules';
import { OutboundHttp } from '../../src/outbound/outbound-http';
import { parseSecretMap } from '../../src/secrets/secret-map';
import { Secrets } from '../../src/secrets/secrets';
import { startModelServer, type ModelServer } from '../support/model-server';

const KEY = 'sk-the-key-of-the-model';
const WORDS = 'WORDS-of-the-server';

let server: ModelServer;
let http: OutboundHttp;
let caller: ModelCaller;

beforeAll(async () => {
  server = await startModelServer();
  http = new OutboundHttp({ rules: { development: true, allow: NOTHING_ALLOWED } });
  const map = parseSecretMap(
    JSON.stringify({
      acme: {
        'model-key': { from: ['env:MODEL_KEY'], hosts: ['localhost'] },
        elsewhere: { from: ['env:MODEL_KEY'], hosts: ['api.example.com'] },
      },
    }),
  );
  caller = new ModelCaller({ http, secrets: new Secrets(map, { env: { MODEL_KEY: KEY } }) });
});
afterAll(async () => {
  await http.close();
  await server.close();
});

function request(more: Partial<ModelRequest['model']> = {}, other: Partial<ModelRequest> = {}): ModelRequest {
  return {
    tenant: 'acme',
    model: {
      baseUrl: server.baseUrl,
      name: 'scripted',
      maxSteps: 5,
      maxOutputTokens: 77,
      timeoutMs: 2_000,
      ...more,
    },
    messages: [{ role: 'user', text: 'hi' }],
    tools: [],
    signal: new AbortController().signal,
    ...other,
  };
}

const raw =
  (status: number, body: string | Buffer, headers: Record<string, string> = {}) =>
  (_: unknown, response: ServerResponse): undefined => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    return undefined;
  };

const withChoice = (choice: object): string =>
  JSON.stringify({ id: '1', object: 'chat.completion', created: 1, model: 'm', choices: [choice] });

test.each([
  ['a redirect', raw(301, '', { location: 'http://localhost/' }), 'http_status', false],
  ['400', raw(400, WORDS), 'http_status', false],
  ['401', raw(401, WORDS), 'http_status', false],
  ['408', raw(408, WORDS), 'http_status', true],
  ['500', raw(500, WORDS), 'http_status', true],
  ['HTML', raw(200, `<html>${WORDS}</html>`, { 'content-type': 'text/html' }), 'answer_invalid', true],
  ['an empty answer', raw(200, ''), 'answer_invalid', true],
  ['{}', raw(200, '{}'), 'answer_invalid', true],
  ['null', raw(200, 'null'), 'answer_invalid', true],
  ['no choices', raw(200, JSON.stringify({ choices: [] })), 'answer_invalid', true],
  ['JSON that is cut off', raw(200, '{"choices":[{"message":{"content":"'), 'answer_invalid', true],
  ['10 MiB', raw(200, 'x'.repeat(10 * 1024 * 1024)), 'answer_too_large', false],
  ['gzip', raw(200, gzipSync('{}'), { 'content-encoding': 'gzip' }), 'answer_encoded', false],
  ['204', raw(204, ''), 'http_status', false],
  [
    'a lone surrogate',
    raw(
      200,
      withChoice({ index: 0, message: { role: 'assistant', content: '\ud800' }, finish_reason: 'stop' }),
    ),
    'answer_invalid',
    true,
  ],
] as const)('%s is a failure that says nothing of what was sent', async (_, script, code, retry) => {
  server.script(script);
  const reply = await caller.call(request());
  expect(reply).toMatchObject({ kind: 'failed', code, retry });
  expect(JSON.stringify(reply)).not.toContain(WORDS);
});

test('a server that has enough says when to come back', async () => {
  server.script(raw(429, WORDS, { 'retry-after': '7' }));
  expect(await caller.call(request())).toMatchObject({
    code: 'http_status',
    retry: true,
    retryAfterSeconds: 7,
  });
});

test('no server, a connection that is reset and one that is silent are failures that may pass', async () => {
  const resets = createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
  await new Promise<void>((resolve) => resets.listen(0, '127.0.0.1', resolve));
  const { port } = resets.address() as AddressInfo;
  const reset = await caller.call(request({ baseUrl: `http://localhost:${port}/v1` }));
  expect(reset).toMatchObject({ kind: 'failed', retry: true });
  resets.close();
  const refused = await caller.call(request({ baseUrl: `http://localhost:${port}/v1` }));
  expect(refused).toMatchObject({ kind: 'failed', retry: true });
  server.script(() => new Promise(() => undefined));
  const silent = await caller.call(request({ timeoutMs: 200 }));
  expect(silent).toMatchObject({ kind: 'failed', code: 'model_timeout', retry: true });
});

test('the addresses that hooks may not reach a model may not reach either', async () => {
  for (const baseUrl of ['https://169.254.169.254/v1', 'https://10.0.0.1/v1', 'http://example.com/v1']) {
    expect(await caller.call(request({ baseUrl }))).toMatchObject({
      kind: 'failed',
      code: 'url_refused',
      retry: false,
    });
  }
});

test('the key goes to the host that the operator allows, and is in no failure', async () => {
  server.script(() => ({ text: 'ok' }));
  await caller.call(request({ apiKey: 'model-key' }));
  expect(server.asked.at(-1)!.headers['authorization']).toBe(`Bearer ${KEY}`);
  await caller.call(request());
  expect(server.asked.at(-1)!.headers['authorization']).toBeUndefined();
  const asked = server.asked.length;
  for (const [apiKey, code] of [
    ['elsewhere', 'secret_not_for_host'],
    ['unmapped', 'secret_missing'],
  ] as const) {
    const reply = await caller.call(request({ apiKey }));
    expect(reply).toMatchObject({ kind: 'failed', code, retry: false });
    expect(JSON.stringify(reply)).not.toContain(KEY);
  }
  expect(server.asked).toHaveLength(asked);
});

test('a request that is given up ends at once', async () => {
  server.script(() => new Promise(() => undefined));
  const gone = new AbortController();
  const calling = caller.call(request({}, { signal: gone.signal }));
  setTimeout(() => gone.abort(new Error('given up')), 50);
  await expect(calling).rejects.toThrow('given up');
});

test('messages, tools and limits are sent in the form of the API, in order', async () => {
  server.script(() => ({ text: 'ok' }));
  await caller.call(
    request(
      {},
      {
        instructions: 'Be brief.',
        messages: [
          { role: 'user', text: 'one' },
          {
            role: 'tools',
            said: 'thinking',
            calls: [
              {
                id: 'c1',
                tool: 'files.read',
                input: { path: 'ä' },
                result: { status: 'completed', output: 1 },
              },
              { id: 'c2', tool: 'pay', input: {}, result: { status: 'denied', executed: false } },
            ],
          },
          { role: 'assistant', text: 'two' },
          { role: 'user', text: 'three' },
        ],
        tools: [
          {
            name: 'pay',
            description: 'Pays.',
            inputSchema: { type: 'object', properties: { a: { type: 'number' } } },
          },
          { name: 'files.read' },
        ],
      },
    ),
  );
  const { body } = server.asked.at(-1)!;
  expect(body).toMatchObject({ model: 'scripted', max_tokens: 77 });
  expect(body.messages).toMatchObject([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'one' },
    {
      role: 'assistant',
      content: 'thinking',
      tool_calls: [
        { id: 'c1', function: { name: 'files_read', arguments: '{"path":"ä"}' } },
        { id: 'c2', function: { name: 'pay', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: '{"status":"completed","output":1}' },
    { role: 'tool', tool_call_id: 'c2', content: '{"status":"denied","executed":false}' },
    { role: 'assistant', content: 'two' },
    { role: 'user', content: 'three' },
  ]);
  expect(body.tools).toMatchObject([
    {
      type: 'function',
      function: { name: 'pay', description: 'Pays.', parameters: { properties: { a: { type: 'number' } } } },
    },
    { type: 'function', function: { name: 'files_read' } },
  ]);
});

test('arguments are kept as they are, or refused: nothing is repaired', async () => {
  const tools = [{ name: 'pay' }];
  const wanted = async (input: unknown) => {
    server.script(() => ({ calls: [['pay', input]] }));
    const reply = await caller.call(request({}, { tools }));
    if (reply.kind !== 'answer') throw new Error(reply.code);
    return reply.calls;
  };
  const odd = '{"__proto__":{"x":1},"constructor":1,"a\\"b":["\\u0000",0.1,null,{"é":true}]}';
  const [kept] = await wanted(odd);
  expect(kept).toMatchObject({ toolUseId: 'use-0', tool: 'pay' });
  expect(JSON.stringify(kept!.input)).toBe(odd);
  for (const [input, fault] of [
    ['{"a":1,"a":2}', 'repeat'],
    ['{"a":1', 'one JSON value'],
    ['', 'one JSON value'],
    ['{"a":9007199254740993}', '/a'],
    [`${'['.repeat(129)}${']'.repeat(129)}`, 'level'],
    [JSON.stringify('x'.repeat(1_048_576)), 'larger'],
  ] as const) {
    const [call] = await wanted(input);
    expect(call).toMatchObject({ tool: 'pay', input: null });
    expect(call!.fault).toContain(fault);
  }
});

test('a text of more than 1 MiB is no answer, and one of 1 MiB is', async () => {
  server.script(() => ({ text: 'x'.repeat(1_048_574) }));
  expect(await caller.call(request())).toMatchObject({ kind: 'answer' });
  server.script(() => ({ text: 'x'.repeat(1_048_575) }));
  expect(await caller.call(request())).toMatchObject({ kind: 'failed', code: 'answer_too_large' });
});

test('a text with calls, a repeated id, an unknown tool and several choices each have one meaning', async () => {
  const tools = [{ name: 'pay' }];
  server.script(
    raw(
      200,
      JSON.stringify({
        id: '1',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [
          {
            index: 0,
            finish_reason: 'tool_calls',
            message: {
              role: 'assistant',
              content: 'first',
              tool_calls: [
                { id: 'same', type: 'function', function: { name: 'pay', arguments: '1' } },
                { id: 'same', type: 'function', function: { name: 'constructor', arguments: '{}' } },
              ],
            },
          },
          { index: 1, finish_reason: 'stop', message: { role: 'assistant', content: 'second' } },
        ],
      }),
    ),
  );
  expect(await caller.call(request({}, { tools }))).toEqual({
    kind: 'answer',
    text: 'first',
    calls: [
      { toolUseId: 'same', tool: 'pay', input: 1 },
      { toolUseId: 'same', tool: 'constructor', input: null, fault: 'no tool of this name is offered' },
    ],
  });
});
