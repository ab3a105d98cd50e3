import { z } from 'zod';
import { ndjson } from '../../src/server/http/ndjson';
import { HttpProblem } from '../../src/server/http/problem';
import { closeServers, defineRoute, postJson, problemOf, sayRaw, serve } from './fixture';

afterEach(closeServers);

const facts = { summary: 's', tags: ['t'], auth: 'none' } as const;
const seen = z.strictObject({ seen: z.unknown() });

const echo = defineRoute({
  ...facts,
  method: 'POST',
  path: '/v1/things/{thingId}',
  operationId: 'echo',
  query: z.object({ one: z.string().optional(), many: z.array(z.string()).optional() }),
  headers: z.object({ 'X-Kind': z.enum(['a', 'b']) }),
  body: z.strictObject({
    name: z.string().max(3),
    sizes: z.array(z.int()).optional(),
    'a/b~c': z.boolean().optional(),
  }),
  responses: { 200: { description: 'ok', schema: seen } },
  handler: ({ params, query, headers, body }) => ({
    status: 200,
    body: { seen: { params, query, headers, body } },
  }),
});

const literal = defineRoute({
  ...facts,
  method: 'POST',
  path: '/v1/things/resolve',
  operationId: 'literal',
  responses: { 200: { description: 'ok', schema: seen } },
  handler: () => ({ status: 200, body: { seen: 'literal' } }),
});

const page = defineRoute({
  ...facts,
  method: 'GET',
  path: '/page',
  operationId: 'page',
  responses: { 200: { description: 'a page', media: ['text/html'] }, 204: { description: 'nothing' } },
  handler: ({ request }) =>
    request.header('x-nothing') === undefined
      ? { status: 200, contentType: 'text/html; charset=utf-8', content: '<p>é' }
      : { status: 204 },
});

const versioned = defineRoute({
  ...facts,
  method: 'GET',
  path: '/versioned',
  operationId: 'versioned',
  responses: { 200: { description: 'ok', schema: seen, headers: { ETag: 'version' } } },
  handler: () => ({ status: 200, body: { seen: 1 }, headers: { ETag: '"7"' } }),
});

const all = [echo, page, versioned, literal];

test('the handler sees what the schemas made of the request, and nothing else', async () => {
  const { url } = await serve(all);
  const response = await postJson(`${url}/v1/things/a%20b?one=x+y&many=1&many=%C3%A9`, '{"name":"n"}', {
    'X-Kind': 'a',
  });
  expect(await response.json()).toEqual({
    seen: {
      params: { thingId: 'a b' },
      query: { one: 'x y', many: ['1', 'é'] },
      headers: { 'X-Kind': 'a' },
      body: { name: 'n' },
    },
  });
});

test('every fault of path, query, headers and body is named at once, with place, pointer and type', async () => {
  const { url } = await serve(all);
  const response = await postJson(
    `${url}/v1/things/x?other=1&one=1&one=2`,
    '{"name":"secret","sizes":[1,"2",1.5,null],"a/b~c":"yes","more":{}}',
    { 'X-Kind': 'zzz' },
  );
  expect(response.status).toBe(422);
  const text = await response.text();
  const problem = JSON.parse(text) as {
    type: string;
    errors: { in: string; pointer: string; detail: string; found: string }[];
  };
  expect(problem.type).toBe('/problems/validation');
  expect(problem.errors).toEqual([
    { in: 'query', pointer: '/one', detail: 'must be a string', found: 'array' },
    { in: 'query', pointer: '/other', detail: 'is not known here; known: one, many', found: 'string' },
    { in: 'header', pointer: '/X-Kind', detail: 'must be one of "a", "b"', found: 'string' },
    { in: 'body', pointer: '/name', detail: 'must be at most 3 characters long', found: 'string' },
    { in: 'body', pointer: '/sizes/1', detail: 'must be a number', found: 'string' },
    { in: 'body', pointer: '/sizes/2', detail: 'must be an integer', found: 'number' },
    { in: 'body', pointer: '/sizes/3', detail: 'must be a number', found: 'null' },
    { in: 'body', pointer: '/a~1b~0c', detail: 'must be a boolean', found: 'string' },
    { in: 'body', pointer: '/more', detail: 'is not known here; known: name, sizes, a/b~c', found: 'object' },
  ]);
  expect(text).not.toMatch(/secret|zzz|yes/);
});

test('of several allowed forms the nearest is judged, and a tie is told as such', async () => {
  const result = defineRoute({
    ...facts,
    method: 'POST',
    path: '/result',
    operationId: 'result',
    body: z.strictObject({
      result: z.union([z.strictObject({ output: z.unknown() }), z.strictObject({ error: z.string() })]),
      kind: z.discriminatedUnion('type', [
        z.strictObject({ type: z.literal('url'), url: z.string() }),
        z.strictObject({ type: z.literal('client') }),
      ]),
    }),
    responses: { 204: { description: 'ok' } },
    handler: () => ({ status: 204 }),
  });
  const { url } = await serve([result]);
  const faults = async (body: object) =>
    (await problemOf(await postJson(`${url}/result`, JSON.stringify(body))))['errors'];
  expect(await faults({ result: { error: 1 }, kind: { type: 'url' } })).toEqual([
    { in: 'body', pointer: '/result/error', detail: 'must be a string', found: 'number' },
    { in: 'body', pointer: '/kind/url', detail: 'must be a string', found: 'nothing' },
  ]);
  expect(await faults({ result: {}, kind: { type: 'agent' } })).toEqual([
    { in: 'body', pointer: '/result', detail: 'matches none of the allowed forms', found: 'object' },
    { in: 'body', pointer: '/kind/type', detail: 'must be one of "url", "client"', found: 'string' },
  ]);
});

test('faults of parameters alone are 400, a missing one is found as nothing', async () => {
  const { url } = await serve(all);
  const response = await postJson(`${url}/v1/things/x`, '{"name":"n"}');
  expect(response.status).toBe(400);
  const problem = await problemOf(response);
  expect(problem['type']).toBe('/problems/invalid-parameters');
  expect(problem['errors']).toEqual([
    { in: 'header', pointer: '/X-Kind', detail: 'must be one of "a", "b"', found: 'nothing' },
  ]);
});

test('a query that is not UTF-8 is refused, not repaired', async () => {
  const { url } = await serve(all);
  const response = await postJson(`${url}/v1/things/x?one=%FF`, '{"name":"n"}', { 'X-Kind': 'a' });
  expect(response.status).toBe(400);
});

test('a path that is not UTF-8 is a malformed request', async () => {
  const { url } = await serve(all);
  const response = await fetch(`${url}/v1/things/%FF`, { method: 'POST' });
  expect(response.status).toBe(400);
  expect(await problemOf(response)).toMatchObject({ type: '/problems/malformed-request' });
});

test.each(['__proto__', 'constructor', 'hasOwnProperty'])(
  'a query parameter named %s is an unknown parameter',
  async (name) => {
    const { url } = await serve(all);
    const response = await fetch(`${url}/page?${name}=1`);
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ errors: [{ in: 'query', pointer: `/${name}` }] });
  },
);

test('a literal path is never read as a parameter, whatever the order of declaration', async () => {
  const { url } = await serve(all);
  const response = await postJson(`${url}/v1/things/resolve`, '{}');
  expect(await response.json()).toEqual({ seen: 'literal' });
});

test('an unknown path is a 404 problem, a known path with another method a 405 that names the methods', async () => {
  const { url } = await serve(all);
  for (const path of ['/nowhere', '/PAGE', '/page/']) {
    const response = await fetch(url + path);
    expect(response.status).toBe(404);
    expect(await problemOf(response)).toMatchObject({ type: '/problems/not-found' });
  }
  const wrongMethod = await fetch(`${url}/page`, { method: 'DELETE' });
  expect(wrongMethod.status).toBe(405);
  expect(wrongMethod.headers.get('Allow')).toBe('GET, HEAD');
  await problemOf(wrongMethod);
});

test('an answer may be another media type, or have no body', async () => {
  const { url } = await serve(all);
  const html = await fetch(`${url}/page`);
  expect([html.headers.get('Content-Type'), await html.text()]).toEqual(['text/html; charset=utf-8', '<p>é']);
  const nothing = await fetch(`${url}/page`, { headers: { 'X-Nothing': '1' } });
  expect([nothing.status, await nothing.text()]).toEqual([204, '']);
  const head = await fetch(`${url}/page`, { method: 'HEAD' });
  expect([head.status, head.headers.get('Content-Length'), await head.text()]).toEqual([200, '5', '']);
});

test('a GET whose ETag the caller already has is 304 without a body', async () => {
  const { url } = await serve(all);
  const ask = (tag: string) => fetch(`${url}/versioned`, { headers: { 'If-None-Match': tag } });
  for (const tag of ['"7"', 'W/"7"', '"6", "7"', '*']) {
    const response = await ask(tag);
    expect([tag, response.status, await response.text()]).toEqual([tag, 304, '']);
    expect(response.headers.get('ETag')).toBe('"7"');
    expect(response.headers.get('Cache-Control')).toBe('private, no-cache');
  }
  for (const tag of ['"8"', '7', '"77"']) expect((await ask(tag)).status).toBe(200);
});

test('answers carry the headers that forbid caching, framing and sniffing, and not the name of the framework', async () => {
  const { url } = await serve(all);
  const { headers } = await fetch(`${url}/page`);
  expect(headers.get('Cache-Control')).toBe('no-store');
  expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
  expect(headers.get('Content-Security-Policy')).toContain("default-src 'none'");
  expect(headers.get('X-Powered-By')).toBeNull();
});

test('a mount is reached, and what it throws is a problem too', async () => {
  const { url, lines } = await serve(all, {
    mounts: [
      {
        path: '/sdk',
        handler: () => (request, response) => {
          if (request.path === '/fail') throw new HttpProblem('conflict');
          response.end('mounted');
        },
      },
    ],
  });
  expect(await (await fetch(`${url}/sdk/x`)).text()).toBe('mounted');
  expect((await fetch(`${url}/sdk/fail`)).status).toBe(409);
  expect(lines.map((line) => line['route'])).toEqual(['/sdk', '/sdk']);
});

test('routes that contradict each other, or drop what was sent, do not start', async () => {
  await expect(serve([page, { ...page, operationId: 'page2' }])).rejects.toThrow(
    'two routes are both GET /page',
  );
  await expect(serve([page, { ...page, path: '/page2' }])).rejects.toThrow('two routes are both page');
  const declare = (body: z.ZodType) => () =>
    defineRoute({
      ...facts,
      method: 'POST',
      path: '/x',
      operationId: 'x',
      body,
      responses: {},
      handler: () => ({}) as never,
    });
  expect(declare(z.object({ a: z.string() }))).toThrow(
    'x: the body schema with members {a} must be a strict or loose object',
  );
  expect(
    declare(z.strictObject({ a: z.array(z.union([z.object({ deep: z.string() }), z.string()])).optional() })),
  ).toThrow('{deep}');
  expect(declare(z.lazy(() => z.object({ later: z.string() })))).toThrow('{later}');
  expect(declare(z.strictObject({ a: z.looseObject({}) }))).not.toThrow();
  expect(() =>
    defineRoute({
      ...facts,
      method: 'GET',
      path: '/{a}',
      operationId: 'x',
      params: z.object({ b: z.string() }),
      responses: {},
      handler: () => ({}) as never,
    }),
  ).toThrow('not the names of the path');
});

test('types: a handler cannot answer what it did not declare', () => {
  const get = {
    ...facts,
    method: 'GET',
    path: '/{a}',
    operationId: 'x',
    responses: { 200: { description: 'ok', schema: z.strictObject({ n: z.number() }) } },
  } as const;
  defineRoute({
    ...get,
    // @ts-expect-error the body has another shape than the schema
    handler: () => ({ status: 200, body: { n: 'one' } }),
  });
  defineRoute({
    ...get,
    // @ts-expect-error the status is not declared
    handler: () => ({ status: 201, body: { n: 1 } }),
  });
  defineRoute({
    ...get,
    // @ts-expect-error nothing was declared that streams
    handler: () => ndjson(async function* () {}),
  });
  defineRoute({
    ...get,
    handler: ({ params, principal, query, body }) => {
      // @ts-expect-error the path has no such name
      expect(params.b).toBeUndefined();
      // @ts-expect-error no query is declared
      expect(query.limit).toBeUndefined();
      const nothing: [undefined, undefined] = [principal, body];
      return { status: 200, body: { n: params.a.length + nothing.length } };
    },
  });
  defineRoute({
    ...get,
    // @ts-expect-error there is no such scope
    auth: { scopes: ['other'] },
    handler: () => ({ status: 200, body: { n: 1 } }),
  });
  const route = defineRoute({
    ...get,
    auth: { scopes: ['calls', 'read'] },
    handler: ({ principal }) => ({ status: 200, body: { n: principal.keyId.length } }),
  });
  expect(route.path).toBe('/{a}');
});

test('bytes that are no HTTP get a problem, and the connection ends', async () => {
  const { port } = await serve(all);
  const answer = await sayRaw(port, ['NONSENSE\r\n\r\n']);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toContain('"type":"/problems/malformed-request"');
  const large = await sayRaw(port, [
    `GET /page HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`,
  ]);
  expect(large).toMatch(/^HTTP\/1\.1 431 /);
});
