import { z } from 'zod';
import { HttpProblem } from '../../src/server/http/problem';
import { PROBLEM_TYPES } from '../../src/server/http/problem-types';
import { closeServers, defineRoute, problemOf, serve } from './fixture';

afterEach(closeServers);

const throwing = (error: unknown) =>
  defineRoute({
    method: 'GET',
    path: '/throw',
    operationId: 'throw',
    summary: 's',
    tags: ['t'],
    auth: 'none',
    responses: { 204: { description: 'never' } },
    handler: () => {
      throw error;
    },
  });

test("a handler's crash tells the caller nothing but the request id, and the log everything", async () => {
  const { url, lines } = await serve([throwing(new TypeError('password sk_secret leaked'))]);
  const response = await fetch(`${url}/throw`, { headers: { 'X-Request-Id': 'crash-1' } });
  expect(response.status).toBe(500);
  expect(await problemOf(response)).toEqual({
    type: '/problems/internal',
    title: 'Internal error',
    status: 500,
    requestId: 'crash-1',
  });
  const logged = lines.find((line) => line['msg'] === 'request failed') as {
    requestId: string;
    err: { stack: string };
  };
  expect(logged.requestId).toBe('crash-1');
  expect(logged.err.stack).toMatch(/TypeError: password sk_secret leaked\n\s+at .*problems\.test/);
});

test.each([
  ['a string', 'sk_secret'],
  ['null', null],
  ['a look-alike', { status: 200, message: 'sk_secret', stack: 'sk_secret' }],
])('throwing %s is a 500 like any other', async (_what, thrown) => {
  const { url } = await serve([throwing(thrown)]);
  const response = await fetch(`${url}/throw`);
  expect(response.status).toBe(500);
  expect(JSON.stringify(await problemOf(response))).not.toContain('sk_secret');
});

test('a problem carries its type, detail, members and headers', async () => {
  const problem = new HttpProblem('unavailable', {
    detail: 'the call is not decided yet',
    extensions: { callId: 'c1', outcome: 'unknown' },
    headers: { Location: '/v1/calls/c1', 'Retry-After': '2' },
    cause: new Error('sk_secret'),
  });
  const { url } = await serve([throwing(problem)]);
  const response = await fetch(`${url}/throw`);
  expect([response.headers.get('Location'), response.headers.get('Retry-After')]).toEqual([
    '/v1/calls/c1',
    '2',
  ]);
  const { requestId, ...document } = await problemOf(response);
  expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
  expect(document).toEqual({
    type: '/problems/unavailable',
    title: 'Unavailable',
    status: 503,
    detail: 'the call is not decided yet',
    callId: 'c1',
    outcome: 'unknown',
  });
});

test('a header that cannot be sent is still no way for a stack to get out', async () => {
  const { url } = await serve([
    throwing(new HttpProblem('conflict', { headers: { Location: 'a\r\nSet-Cookie: b' } })),
  ]);
  const response = await fetch(`${url}/throw`);
  expect(response.status).toBe(500);
  expect(response.headers.get('Set-Cookie')).toBeNull();
  expect(await response.text()).not.toMatch(/ at |node_modules|ERR_/);
});

test('a body that cannot be JSON is a 500 without the headers of the answer that failed', async () => {
  const bad = defineRoute({
    method: 'GET',
    path: '/bad',
    operationId: 'bad',
    summary: 's',
    tags: ['t'],
    auth: 'none',
    responses: { 200: { description: 'never', schema: z.unknown() } },
    handler: () => ({ status: 200, body: 1n, headers: { Location: '/x' } }),
  });
  const { url } = await serve([bad]);
  const response = await fetch(`${url}/bad`);
  expect(response.status).toBe(500);
  expect(response.headers.get('Location')).toBeNull();
  await problemOf(response);
});

test('types: a code outside the registry, or a member that would hide a standard one, does not compile', () => {
  // @ts-expect-error no such problem
  const unknown = () => new HttpProblem('no-such-problem');
  // @ts-expect-error `status` comes from the registry
  const hiding = new HttpProblem('conflict', { extensions: { status: 200 } });
  expect(unknown).toThrow(TypeError);
  expect(hiding.toDocument('r')['status']).toBe(409);
});

test.each(Object.entries(PROBLEM_TYPES))(
  'the registry says of %s when it happens and what to do',
  (code, type) => {
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(type.status).toBeGreaterThanOrEqual(400);
    for (const sentence of [type.when, type.remedy]) expect(sentence).toMatch(/^[A-Z].*\.$/);
  },
);
