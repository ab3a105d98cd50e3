import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { z } from 'zod';
import { ClientGone, readBytes } from '../../src/server/http/body-bytes';
import { parseJson } from '../../src/server/http/json-body';
import { closeServers, defineRoute, postJson, problemOf, sayRaw, serve } from './fixture';

afterEach(closeServers);

const facts = { method: 'POST', summary: 's', tags: ['t'], auth: { scopes: ['calls'] } } as const;

let handled: unknown[] = [];
beforeEach(() => {
  handled = [];
});

const keep = defineRoute({
  ...facts,
  path: '/keep',
  operationId: 'keep',
  bodyLimit: 1000,
  body: z.strictObject({ input: z.unknown(), labels: z.record(z.string(), z.string()).optional() }),
  responses: { 204: { description: 'kept' } },
  handler: ({ body }) => {
    handled.push(body.input);
    return { status: 204 };
  },
});

const optional = defineRoute({
  ...facts,
  path: '/optional',
  operationId: 'optional',
  body: z.strictObject({ a: z.int() }).optional(),
  responses: { 200: { description: 'ok', schema: z.strictObject({ body: z.unknown() }) } },
  handler: ({ body }) => ({ status: 200, body: { body: body ?? 'none' } }),
});

const none = defineRoute({
  ...facts,
  path: '/none',
  operationId: 'none',
  responses: { 204: { description: 'ok' } },
  handler: () => ({ status: 204 }),
});

const raw = defineRoute({
  ...facts,
  path: '/raw',
  operationId: 'raw',
  body: { raw: true, contentType: 'application/json', description: 'signed' },
  responses: { 200: { description: 'ok', schema: z.strictObject({ hex: z.string() }) } },
  handler: ({ body }) => ({ status: 200, body: { hex: body.toString('hex') } }),
});

const all = [keep, optional, none, raw];

const head = (more: string) =>
  `POST /keep HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer caller\r\nContent-Type: application/json\r\n${more}\r\n\r\n`;

test('a body over the limit is refused before it is parsed', async () => {
  const { url } = await serve(all);
  const notEvenJson = 'x'.repeat(1001);
  const response = await postJson(`${url}/keep`, notEvenJson);
  expect(response.status).toBe(413);
  expect(await problemOf(response)).toMatchObject({ type: '/problems/content-too-large', limit: 1000 });
  expect((await postJson(`${url}/keep`, `{"input":"${'x'.repeat(988)}"}`)).status).toBe(204);
  expect(handled).toHaveLength(1);
});

test('an announced length over the limit is refused although not a byte of the body comes', async () => {
  const { port } = await serve(all);
  const answer = await sayRaw(port, [head('Content-Length: 1001')]);
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
});

test('a chunked body is refused when it passes the limit, the whole answer is heard, and the connection closes', async () => {
  const { port } = await serve(all);
  const chunk = `${(65_536).toString(16)}\r\n${'x'.repeat(65_536)}\r\n`;
  const answer = await sayRaw(port, [
    head('Transfer-Encoding: chunked'),
    ...Array<string>(64).fill(chunk),
    '0\r\n\r\n',
  ]);
  expect(answer).toMatch(/^HTTP\/1\.1 413 [^]*Connection: close[^]*"limit":1000/);
  expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
});

test.each([
  ['text/plain', 415],
  ['application/json; charset=latin1', 415],
  ['application/jsonp', 415],
  ['application/problem+json', 415],
  ['application/json', 204],
  ['Application/JSON ; Charset="UTF-8"', 204],
])('a body declared as %s is answered %i', async (contentType, status) => {
  const { url } = await serve(all);
  const response = await postJson(`${url}/keep`, '{"input":1}', { 'Content-Type': contentType });
  expect(response.status).toBe(status);
});

test('a body without a declared type, or compressed, is 415', async () => {
  const { url } = await serve(all);
  const untyped = await postJson(`${url}/keep`, new TextEncoder().encode('{"input":1}'), {
    'Content-Type': '',
  });
  expect(untyped.status).toBe(415);
  for (const encoding of ['gzip', 'deflate', 'br', 'identity, gzip']) {
    expect((await postJson(`${url}/keep`, '{"input":1}', { 'Content-Encoding': encoding })).status).toBe(415);
  }
  expect((await postJson(`${url}/keep`, '{"input":1}', { 'Content-Encoding': 'identity' })).status).toBe(204);
});

test.each<[string, string | Uint8Array]>([
  ['bad UTF-8', Uint8Array.of(0x22, 0xc3, 0x28, 0x22)],
  ['an encoded surrogate', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)],
  ['two values', '{"input":1}{}'],
  ['a trailing comma', '{"input":1,}'],
  ['NaN', '{"input":NaN}'],
  ['a comment', '{"input":1}//'],
  ['only white space', '  \n'],
])('%s is a malformed body', async (_what, body) => {
  const { url } = await serve(all);
  const response = await postJson(`${url}/keep`, body);
  expect(response.status).toBe(400);
  expect(await problemOf(response)).toMatchObject({ type: '/problems/malformed-body' });
});

test('malformed JSON is told by its position, and its text is not echoed', async () => {
  const { url } = await serve(all);
  const response = await postJson(`${url}/keep`, '{"input": sk_secret}');
  const text = await response.text();
  expect(JSON.parse(text)).toMatchObject({ status: 400, position: 10 });
  expect(text).not.toContain('sk_secret');
});

test('an empty body is refused where one is needed and accepted where it is optional', async () => {
  const { url } = await serve(all);
  const refused = await postJson(`${url}/keep`, '');
  expect(refused.status).toBe(400);
  expect(await problemOf(refused)).toMatchObject({ type: '/problems/body-required' });
  expect(await (await postJson(`${url}/optional`, '')).json()).toEqual({ body: 'none' });
  expect(await (await postJson(`${url}/optional`, '{"a":1}')).json()).toEqual({ body: { a: 1 } });
});

test('a route without a body takes none or {}, and does not swallow anything else', async () => {
  const { url } = await serve(all);
  expect((await postJson(`${url}/none`, '', { 'Content-Type': 'text/plain' })).status).toBe(204);
  expect((await postJson(`${url}/none`, '{}')).status).toBe(204);
  expect((await postJson(`${url}/none`, '{"a":1}')).status).toBe(422);
});

test('a repeated member name is refused with the pointer of each repetition, at any depth and in any spelling', async () => {
  const { url } = await serve(all);
  const response = await postJson(
    `${url}/keep`,
    '{"input":{"a":1,"b":[{"x/y":1,"x\\/y":2}],"\\u0061":2},"input":0}',
  );
  expect(response.status).toBe(422);
  const problem = await problemOf(response);
  expect(problem['type']).toBe('/problems/unfaithful-json');
  expect((problem['errors'] as { pointer: string }[]).map((error) => error.pointer)).toEqual([
    '/input/b/0/x~1y',
    '/input/a',
    '/input',
  ]);
  expect(handled).toEqual([]);
});

test.each([
  ['an integer beyond 2^53-1', '{"input":9007199254740993}', '/input'],
  ['a number that is not finite', '{"input":[1e400]}', '/input/0'],
  ['a lone surrogate', '{"input":"\\ud800"}', '/input'],
  ['a lone surrogate in a name', '{"input":{"\\udc00":1}}', '/input/\ufffd'],
])('%s is refused with its pointer', async (_what, body, pointer) => {
  const { url } = await serve(all);
  const response = await postJson(`${url}/keep`, body);
  expect(response.status).toBe(422);
  expect(await problemOf(response)).toMatchObject({
    type: '/problems/unfaithful-json',
    errors: [{ in: 'body', pointer }],
  });
});

test('nesting that would exhaust a stack is refused as too deep', async () => {
  const { url } = await serve([{ ...keep, bodyLimit: 1_000_000 }]);
  const deep = `{"input":${'['.repeat(400_000)}${']'.repeat(400_000)}}`;
  const response = await postJson(`${url}/keep`, deep);
  expect(response.status).toBe(422);
  expect(await problemOf(response)).toMatchObject({ type: '/problems/unfaithful-json' });
});

test('__proto__ and constructor are members like any other and reach the handler', async () => {
  const { url } = await serve(all);
  const response = await postJson(
    `${url}/keep`,
    '{"input":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}',
  );
  expect(response.status).toBe(204);
  const [input] = handled as [object];
  expect(Object.keys(input)).toEqual(['__proto__', 'constructor']);
  expect(JSON.stringify(input)).toBe(
    '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
  );
  expect('polluted' in {}).toBe(false);
  expect(Object.getPrototypeOf(input)).toBe(Object.prototype);
});

test.each([
  ['at a strict object', '{"input":1,"__proto__":{}}', '/__proto__'],
  [
    'in a record that zod would copy without it',
    '{"input":1,"labels":{"a":"b","__proto__":"c"}}',
    '/labels/__proto__',
  ],
])('__proto__ %s is refused, not dropped', async (_where, body, pointer) => {
  const { url } = await serve(all);
  const response = await postJson(`${url}/keep`, body);
  expect(response.status).toBe(422);
  expect(await problemOf(response)).toMatchObject({ errors: [{ in: 'body', pointer }] });
});

test('a body with a fault in every item gets a small answer that says how many are not listed', async () => {
  const list = defineRoute({
    ...facts,
    path: '/list',
    operationId: 'list',
    body: z.array(z.string()),
    responses: { 204: { description: 'ok' } },
    handler: () => ({ status: 204 }),
  });
  const { url } = await serve([list]);
  const response = await postJson(`${url}/list`, JSON.stringify(Array<number>(5000).fill(1)));
  const text = await response.text();
  expect(text.length).toBeLessThan(100_000);
  expect(JSON.parse(text)).toMatchObject({ status: 422, detail: '5000 faults; 4800 are not listed' });
});

test('a raw body reaches its handler byte for byte, unparsed', async () => {
  const { url } = await serve(all);
  const response = await postJson(`${url}/raw`, Uint8Array.of(0, 255, 123), {
    'Content-Type': 'application/x-anything',
  });
  expect(await response.json()).toEqual({ hex: '00ff7b' });
});

test('what cannot be kept is for the injected judge to say', () => {
  const judge = (value: unknown) => (value === 1 ? { pointer: '/here', problem: 'is one' } : undefined);
  expect(parseJson(Buffer.from('2'), judge)).toBe(2);
  expect(() => parseJson(Buffer.from('1'), judge)).toThrow(
    expect.objectContaining({ code: 'unfaithful-json' }) as Error,
  );
});

test('a body whose client left before it was asked for is not waited for', async () => {
  const request = new IncomingMessage(new Socket());
  request.destroy();
  await new Promise((resolve) => setImmediate(resolve));
  await expect(readBytes(request, 10)).rejects.toThrow(ClientGone);
});
