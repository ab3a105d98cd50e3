import { createServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { LookupAddress } from 'node:dns';
import { gzipSync } from 'node:zlib';
import { NOTHING_ALLOWED, parseAllowList } from '../../src/outbound/address-rules';
import type { LookUpAll } from '../../src/outbound/guarded-connect';
import { OutboundHttp, type OutboundRequest, type OutboundReply } from '../../src/outbound/outbound-http';

const MARKER = 'MARKER-of-the-answer';
const DEVELOPMENT = { development: true, allow: NOTHING_ALLOWED };
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Starts a server on loopback that is gone after the test with all of its connections. */
async function listening(server: Server): Promise<{ port: number; open: Set<Socket> }> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, open };
}

function outbound(lookup?: LookUpAll): OutboundHttp {
  const http = new OutboundHttp({ rules: DEVELOPMENT, ...(lookup !== undefined && { lookup }) });
  ends.push(() => http.close());
  return http;
}

const ask = (http: OutboundHttp, url: string, more: Partial<OutboundRequest> = {}): Promise<OutboundReply> =>
  http.send({
    url,
    headers: { 'x-secret': 'header-secret' },
    body: '{}',
    timeoutMs: 10_000,
    maxAnswerBytes: 1_000,
    ...more,
  });

const silent = (): Server => createTcpServer((socket) => socket.resume());
const addresses = (...all: string[]): LookupAddress[] => all.map((address) => ({ address, family: 4 }));

describe('a connection that does not come about', () => {
  const never: LookUpAll = () => undefined;

  test.each(['the look-up', 'the TLS handshake'])(
    'is given up in time, and when the caller gives up: %s',
    async (stage) => {
      const { port } = await listening(silent());
      const http = outbound(stage === 'the look-up' ? never : undefined);
      const url = `https://${stage === 'the look-up' ? 'hooks.example.com' : 'localhost'}:${port}/`;
      expect(await ask(http, url, { timeoutMs: 50 })).toMatchObject({
        outcome: 'timeout',
        code: 'hook_timeout',
      });
      const controller = new AbortController();
      const asking = ask(http, url, { signal: controller.signal });
      setTimeout(() => controller.abort(new Error('given up')), 50);
      await expect(asking).rejects.toThrow('given up');
    },
  );

  test('sends nothing when it comes about after all', async () => {
    let hits = 0;
    let resolveName = (): void => undefined;
    const { port } = await listening(
      createServer((request, response) => {
        hits += 1;
        request.resume();
        response.end('yes');
      }),
    );
    const http = outbound((_, callback) => {
      resolveName = () => callback(null, addresses('127.0.0.1'));
    });
    const url = `http://localhost:${port}/`;
    expect(await ask(http, url, { timeoutMs: 50 })).toMatchObject({ code: 'hook_timeout' });
    // The next request takes the connection that the first one left behind.
    const next = ask(http, url);
    resolveName();
    expect(await next).toMatchObject({ kind: 'answer', status: 200 });
    expect(hits).toBe(1);
  });

  test('does not outlive close()', async () => {
    const server = silent();
    const { port, open } = await listening(server);
    const http = outbound();
    expect(await ask(http, `https://localhost:${port}/`, { timeoutMs: 50 })).toMatchObject({
      code: 'hook_timeout',
    });
    const [left] = open;
    const gone = new Promise((resolve) => (left === undefined ? resolve(0) : left.on('close', resolve)));
    await http.close();
    await gone;
    expect(open.size).toBe(0);
  });
});

test('a request that runs while close() is called is told as a failure', async () => {
  const { port } = await listening(silent());
  const http = outbound();
  const asking = ask(http, `https://localhost:${port}/`);
  setTimeout(() => void http.close(), 50);
  expect(await asking).toMatchObject({ kind: 'failed', outcome: 'unreachable' });
});

test('a name without an address is one that does not resolve', async () => {
  const http = outbound((_, callback) => callback(null, []));
  expect(await ask(http, 'https://hooks.example.com/')).toMatchObject({ code: 'dns_failed' });
});

const reset: [string, (socket: Socket) => void][] = [
  ['at once', (socket) => socket.resetAndDestroy()],
  ['before headers', (socket) => socket.once('data', () => socket.resetAndDestroy())],
  [
    'within headers',
    (socket) =>
      socket.once('data', () =>
        socket.write(`HTTP/1.1 200 OK\r\nX: ${MARKER}`, () => socket.resetAndDestroy()),
      ),
  ],
  [
    'within the body',
    (socket) =>
      socket.once('data', () =>
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n${MARKER}`, () =>
          socket.resetAndDestroy(),
        ),
      ),
  ],
  [
    'by headers that are too large',
    (socket) =>
      socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\nX: ${MARKER.repeat(5_000)}\r\n\r\n`)),
  ],
];

test.each(reset)('a connection that ends %s is one that was reset', async (_, serve) => {
  const { port } = await listening(createTcpServer(serve));
  const reply = await ask(outbound(), `http://localhost:${port}/`);
  expect(reply).toMatchObject({ kind: 'failed', outcome: 'unreachable', code: 'connection_reset' });
  expect(JSON.stringify(reply)).not.toMatch(/MARKER|header-secret/);
});

test.each<[string, string, RequestListener]>([
  [
    'a gzip bomb',
    'answer_encoded',
    (_, response) => {
      const bomb = gzipSync(Buffer.alloc(10 * 1_048_576, MARKER));
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    },
  ],
  [
    'an answer of 10 MiB that says so',
    'answer_too_large',
    (_, response) => response.end(Buffer.alloc(10 * 1_048_576, MARKER)),
  ],
])('%s is invalid, and its connection is not used again', async (_, code, listener) => {
  const { port, open } = await listening(createServer(listener));
  const reply = await ask(outbound(), `http://localhost:${port}/`);
  expect(reply).toMatchObject({ kind: 'failed', outcome: 'invalid', code });
  expect(JSON.stringify(reply)).not.toMatch(/MARKER|header-secret/);
  for (const socket of open) await new Promise((resolve) => socket.on('close', resolve));
  expect(open.size).toBe(0);
});

test('of several addresses only those that were checked are connected to', async () => {
  const { port } = await listening(createServer((_, response) => response.end('yes')));
  const asked: string[] = [];
  const lookup: LookUpAll = (hostname, callback) => {
    asked.push(hostname);
    // Nobody listens on the first.
    callback(null, addresses('127.0.0.2', '127.0.0.1'));
  };
  const http = outbound(lookup);
  expect(await ask(http, `http://localhost:${port}/`)).toMatchObject({ kind: 'answer', status: 200 });
  expect(asked).toEqual(['localhost']);
});

test('an allowed address is reached by its mapped spelling too, and no other address is', async () => {
  const { port } = await listening(silent());
  const rules = { development: false, allow: parseAllowList('127.0.0.1') };
  const http = new OutboundHttp({ rules });
  ends.push(() => http.close());
  // No TLS is spoken there: the request waits, which shows that it was let through.
  expect(await ask(http, `https://[::ffff:127.0.0.1]:${port}/`, { timeoutMs: 100 })).toMatchObject({
    code: 'hook_timeout',
  });
  expect(await ask(http, `https://[::ffff:127.0.0.2]:${port}/`)).toMatchObject({ code: 'url_refused' });
});
