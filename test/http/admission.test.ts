import { z } from 'zod';
import { asCaller, closeServers, defineRoute, postJson, problemOf, sayRaw, serve } from './fixture';

afterEach(closeServers);

const whoami = defineRoute({
  method: 'GET',
  path: '/whoami',
  operationId: 'whoami',
  summary: 's',
  tags: ['t'],
  auth: { scopes: ['calls', 'admin'] },
  responses: { 200: { description: 'ok', schema: z.strictObject({ keyId: z.string() }) } },
  handler: ({ principal }) => ({ status: 200, body: { keyId: principal.keyId } }),
});

const open = defineRoute({
  method: 'GET',
  path: '/open',
  operationId: 'open',
  summary: 's',
  tags: ['t'],
  auth: 'none',
  responses: { 204: { description: 'ok' } },
  handler: () => ({ status: 204 }),
});

let bodiesHandled = 0;
const post = defineRoute({
  method: 'POST',
  path: '/post',
  operationId: 'post',
  summary: 's',
  tags: ['t'],
  auth: { scopes: ['calls'] },
  body: z.unknown(),
  responses: { 204: { description: 'ok' } },
  handler: () => {
    bodiesHandled += 1;
    return { status: 204 };
  },
});

const all = [whoami, open, post];
const ask = (url: string, authorization?: string) =>
  fetch(`${url}/whoami`, authorization === undefined ? {} : { headers: { Authorization: authorization } });

test('a key that is missing, malformed or unknown gets the same 401', async () => {
  const { url } = await serve(all);
  const answers = new Set<string>();
  for (const authorization of [
    undefined,
    '',
    'Bearer',
    'Bearer a b',
    'Basic caller',
    'caller',
    'Bearer unknown',
    'Bearer ünknown',
  ]) {
    const response = await ask(
      url,
      authorization === undefined ? undefined : Buffer.from(authorization).toString('latin1'),
    );
    expect(response.status).toBe(401);
    expect(response.headers.get('WWW-Authenticate')).toBe('Bearer');
    const { requestId, ...problem } = await problemOf(response);
    expect(requestId).toBe(response.headers.get('X-Request-Id'));
    answers.add(JSON.stringify([problem, [...response.headers.keys()].sort()]));
  }
  expect(answers.size).toBe(1);
});

test('a live key is let in, whatever the case of the scheme', async () => {
  const { url } = await serve(all);
  for (const authorization of ['Bearer caller', 'bearer caller', 'BEARER  caller']) {
    expect(await (await ask(url, authorization)).json()).toEqual({ keyId: 'caller' });
  }
});

test('a key without any of the scopes is told which would do', async () => {
  const { url } = await serve(all);
  const response = await ask(url, 'Bearer reader');
  expect(response.status).toBe(403);
  expect(await problemOf(response)).toMatchObject({
    type: '/problems/forbidden',
    neededScopes: ['calls', 'admin'],
  });
});

test('nothing of a body is read for a key that is not let in', async () => {
  const { url, port } = await serve(all);
  const response = await postJson(`${url}/post`, 'not json', { Authorization: 'Bearer reader' });
  expect(response.status).toBe(403);
  const unread = await sayRaw(port, [
    'POST /post HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\n',
  ]);
  expect(unread).toMatch(/^HTTP\/1\.1 401 /);
  expect(bodiesHandled).toBe(0);
});

test('each key has its own limit, and is told when to come back', async () => {
  const { url } = await serve(all, {
    hasScope: () => true,
    limits: {
      perKey: { windowMs: 60_000, limit: 2 },
      failedAuthentications: { windowMs: 60_000, limit: 100 },
    },
  });
  expect((await ask(url, 'Bearer caller')).status).toBe(200);
  expect((await ask(url, 'Bearer caller')).status).toBe(200);
  const response = await ask(url, 'Bearer caller');
  expect(response.status).toBe(429);
  expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0);
  expect(await problemOf(response)).toMatchObject({ type: '/problems/rate-limited' });
  expect((await ask(url, 'Bearer reader')).status).toBe(200);
  expect((await fetch(`${url}/open`)).status).toBe(204);
});

test('an address that fails too often is refused before its key is looked at, until the window ends', async () => {
  let lookedAt = 0;
  const { url } = await serve(all, {
    authenticate: async (token) => {
      lookedAt += 1;
      return token === 'caller' ? { keyId: 'caller', scopes: ['calls'] } : undefined;
    },
    limits: {
      perKey: { windowMs: 60_000, limit: 100 },
      failedAuthentications: { windowMs: 1_000, limit: 3 },
    },
  });
  for (let round = 0; round < 10; round += 1) expect((await ask(url, 'Bearer caller')).status).toBe(200);
  for (let round = 0; round < 3; round += 1) expect((await ask(url, 'Bearer guess')).status).toBe(401);
  expect(lookedAt).toBe(13);
  const refused = await ask(url, 'Bearer caller');
  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '1']);
  expect(lookedAt).toBe(13);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect((await ask(url, 'Bearer caller')).status).toBe(200);
});

test('a store of keys that fails is a 500 that says nothing, never a way in', async () => {
  const { url } = await serve(all, {
    authenticate: () => Promise.reject(new Error('redis://:password@host is down')),
  });
  const response = await fetch(`${url}/whoami`, { headers: asCaller });
  expect(response.status).toBe(500);
  expect(JSON.stringify(await problemOf(response))).not.toContain('redis');
});
