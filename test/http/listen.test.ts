import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { sse } from '../../src/server/http/sse';
import { asCaller, closeServers, defineRoute, postJson, sayRaw, serve } from './fixture';

afterEach(closeServers);

const facts = { summary: 's', tags: ['t'], auth: 'none', responses: { 204: { description: 'ok' } } } as const;

/** Answers after so many milliseconds, or at once when the server begins to close and `poll` is asked for. */
const wait = defineRoute({
  ...facts,
  method: 'GET',
  path: '/wait/{ms}',
  operationId: 'wait',
  query: z.object({ poll: z.string().optional() }),
  handler: async ({ params, query, request }) => {
    const signal = query.poll === undefined ? request.signal : request.closing;
    await sleep(Number(params.ms), undefined, { signal }).catch(() => undefined);
    return { status: 204 };
  },
});

const take = defineRoute({
  ...facts,
  method: 'POST',
  path: '/take',
  operationId: 'take',
  body: z.unknown(),
  handler: () => ({ status: 204 }),
});

const stream = defineRoute({
  ...facts,
  method: 'GET',
  path: '/stream',
  operationId: 'stream',
  responses: { 200: { description: 'ok', media: ['text/event-stream'] } },
  handler: () =>
    sse(async function* (stop) {
      yield { data: 1 };
      await new Promise((resolve) => stop.addEventListener('abort', resolve));
    }),
});

const all = [wait, take, stream];
const elapsed = async (work: Promise<unknown>): Promise<number> => {
  const from = performance.now();
  await work;
  return performance.now() - from;
};

test('closing lets a request in flight finish, then holds nothing open', async () => {
  const server = await serve(all);
  const answer = fetch(`${server.url}/wait/400`);
  await sleep(100);
  expect(await elapsed(server.close(10_000))).toBeLessThan(3_000);
  expect((await answer).status).toBe(204);
  await expect(fetch(`${server.url}/wait/0`)).rejects.toThrow();
});

test('closing ends streams properly and tells long polls', async () => {
  const server = await serve(all);
  const events = await fetch(`${server.url}/stream`);
  const poll = fetch(`${server.url}/wait/60000?poll=`);
  await sleep(100);
  expect(await elapsed(server.close(10_000))).toBeLessThan(3_000);
  expect(await events.text()).toBe('retry: 3000\n\ndata: 1\n\n');
  expect((await poll).status).toBe(204);
});

test('what does not finish within the grace is broken off', async () => {
  const server = await serve(all);
  const answer = fetch(`${server.url}/wait/60000`);
  const broken = expect(answer).rejects.toThrow();
  await sleep(100);
  expect(await elapsed(server.close(300))).toBeGreaterThan(290);
  await broken;
});

test('closing twice is closing once', async () => {
  const server = await serve(all);
  await Promise.all([server.close(100), server.close(100)]);
  await server.close(100);
});

test('a port that is taken is an error, not a server that never answers', async () => {
  const server = await serve(all);
  await expect(serve(all, { listen: { port: server.port } })).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

test('headers or a body that take too long get 408 while a slow answer does not', async () => {
  const { url, port } = await serve(all, { listen: { headersTimeoutMs: 300, requestTimeoutMs: 300 } });
  const slow = fetch(`${url}/wait/1500`);
  const halfHeaders = await sayRaw(port, ['GET /wait/0 HTTP/1.1\r\nHost: x\r\n']);
  expect(halfHeaders).toMatch(/^HTTP\/1\.1 408 [^]*"type":"\/problems\/request-timeout"/);
  const halfBody = await sayRaw(port, [
    'POST /take HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{',
  ]);
  expect(halfBody).toMatch(/^HTTP\/1\.1 408 /);
  expect((await slow).status).toBe(204);
});

test('nonsense after a request cannot put a second head into its answer', async () => {
  const { port } = await serve(all);
  const heard = await new Promise<string>((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write('GET /stream HTTP/1.1\r\nHost: x\r\n\r\n'));
    socket.on('data', (chunk) => {
      if (!text.includes('data: 1') && String(chunk).includes('data: 1')) socket.write('NONSENSE\r\n\r\n');
      text += String(chunk);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
  expect(heard.match(/HTTP\/1\.1 /g)).toHaveLength(1);
});

test('a client that leaves in the middle of its body harms nobody', async () => {
  const { url, port } = await serve(all);
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(
        'POST /take HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{',
        () => {
          socket.destroy();
          resolve();
        },
      );
    });
  });
  expect((await postJson(`${url}/take`, '{}', asCaller)).status).toBe(204);
});
