import { z } from 'zod';
import { closeServers, defineRoute, postJson, serve, type TestServer } from './fixture';

afterEach(closeServers);

const route = defineRoute({
  method: 'POST',
  path: '/v1/threads/{threadId}/calls',
  operationId: 'call',
  summary: 's',
  tags: ['t'],
  auth: { scopes: ['calls'] },
  query: z.object({ q: z.string().optional() }),
  body: z.unknown(),
  responses: { 204: { description: 'ok' } },
  handler: ({ annotate, request }) => {
    annotate({ callId: 'c1' });
    annotate({ workflowId: 'w1' });
    request.log.info('from the handler');
    return { status: 204 };
  },
});

const send = ({ url }: TestServer, headers: Record<string, string> = {}) =>
  postJson(`${url}/v1/threads/sk_path/calls?q=sk_query`, '{"a":"sk_body"}', {
    Cookie: 'sk_cookie',
    ...headers,
  });

test('one line per request says what happened and to which call, in terms of the route', async () => {
  const server = await serve([route], { describePrincipal: () => ({ tenant: 'local' }) });
  await send(server, { 'X-Request-Id': 'r-1' });
  const [handlers, line, ...more] = server.lines;
  expect(more).toEqual([]);
  expect(handlers).toMatchObject({ msg: 'from the handler', requestId: 'r-1' });
  expect(line).toEqual({
    level: 30,
    time: expect.any(Number) as number,
    requestId: 'r-1',
    tenant: 'local',
    callId: 'c1',
    workflowId: 'w1',
    method: 'POST',
    route: '/v1/threads/{threadId}/calls',
    status: 204,
    durationMs: expect.any(Number) as number,
    msg: 'request',
  });
});

test('no line holds the key, a cookie, a body, a query or a raw path', async () => {
  const server = await serve([route]);
  await send(server);
  await send(server, { Authorization: 'Bearer sk_key' });
  await postJson(`${server.url}/nowhere/sk_path`, '');
  expect(server.lines).toHaveLength(4);
  expect(JSON.stringify(server.lines)).not.toMatch(/sk_|Bearer/);
});

test.each(['abc', 'A-1_b.c', 'x'.repeat(128)])('the request id %s is taken over and echoed', async (id) => {
  const server = await serve([route]);
  const response = await send(server, { 'X-Request-Id': id });
  expect(response.headers.get('X-Request-Id')).toBe(id);
});

test.each(['', 'a b', 'x'.repeat(129), 'a"b', 'a, b'])(
  'the request id %j is replaced by a UUID',
  async (id) => {
    const server = await serve([route]);
    const response = await send(server, { 'X-Request-Id': id });
    expect(response.headers.get('X-Request-Id')).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  },
);

test('a request whose client left is logged as aborted', async () => {
  let aborted = false;
  const waiting = defineRoute({
    method: 'GET',
    path: '/wait',
    operationId: 'wait',
    summary: 's',
    tags: ['t'],
    auth: 'none',
    responses: { 204: { description: 'ok' } },
    handler: ({ request }) =>
      new Promise((resolve) => {
        request.signal.addEventListener('abort', () => {
          aborted = true;
          resolve({ status: 204 });
        });
      }),
  });
  const server = await serve([waiting]);
  await expect(fetch(`${server.url}/wait`, { signal: AbortSignal.timeout(100) })).rejects.toThrow();
  while (server.lines.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(aborted).toBe(true);
  expect(server.lines).toEqual([expect.objectContaining({ route: '/wait', aborted: true })]);
});
