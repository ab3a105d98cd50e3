import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:tls';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from 'node:net';
import { NOTHING_ALLOWED } from '../../src/outbound/address-rules';
import { OutboundHttp } from '../../src/outbound/outbound-http';
import { SELF_SIGNED } from './self-signed';

const MARKER = 'MARKER-of-the-answer';
const servers: (Server | TcpServer)[] = [];
let http: OutboundHttp;

beforeAll(() => (http = new OutboundHttp({ rules: { development: true, allow: NOTHING_ALLOWED } })));
afterAll(async () => {
  await http.close();
  for (const server of servers) server.close();
});

async function listening(server: Server | TcpServer): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const serve = async (listener: RequestListener): Promise<string> =>
  `http://localhost:${await listening(createServer(listener))}/`;

const speak = async (bytes: string): Promise<string> =>
  `http://localhost:${await listening(createTcpServer((socket) => socket.on('error', () => undefined).once('data', () => socket.end(bytes))))}/`;

const post = (
  url: string,
  more: { timeoutMs?: number; maxAnswerBytes?: number; signal?: AbortSignal; body?: string } = {},
) =>
  http.send({
    url,
    headers: { 'x-secret': 'header-secret' },
    body: '{}',
    timeoutMs: 5_000,
    maxAnswerBytes: 1_000,
    ...more,
  });

test('headers, body and answer arrive unchanged, and compression is not asked for', async () => {
  let seen: { headers: IncomingMessage['headers']; body: string } | undefined;
  const url = await serve((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        seen = { headers: request.headers, body: Buffer.concat(chunks).toString() };
        response.writeHead(200, { 'content-encoding': 'identity' }).end('é\u0000');
      });
  });
  const reply = await post(url, { body: '{"é":1}' });
  expect(seen).toMatchObject({
    headers: { 'x-secret': 'header-secret', 'accept-encoding': 'identity' },
    body: '{"é":1}',
  });
  expect(reply).toEqual({ kind: 'answer', status: 200, body: Buffer.from('é\u0000') });
});

test('connections are kept for the next request', async () => {
  const sockets = new Set<unknown>();
  const url = await serve((request, response) => {
    sockets.add(request.socket);
    request.resume().on('end', () => response.end('ok'));
  });
  // The client may take a second connection while it winds the first request up.
  for (let count = 0; count < 20; count += 1) await post(url);
  expect(sockets.size).toBeLessThanOrEqual(2);
});

test.each([301, 302, 303, 307, 308])('a %i is an answer, and where it leads is not asked', async (status) => {
  let hits = 0;
  const target = await serve((_, response) => {
    hits += 1;
    response.end();
  });
  const url = await serve((request, response) => {
    request.resume();
    response.writeHead(status, { location: target }).end();
  });
  expect(await post(url)).toMatchObject({ kind: 'answer', status });
  expect(hits).toBe(0);
});

test.each([
  [1_000, 'answer'],
  [1_001, 'failed'],
])('an answer of %i bytes, of which 1,000 are read, is %s', async (size, kind) => {
  const url = await serve((request, response) => {
    request.resume();
    response.end(Buffer.alloc(size, 'x'));
  });
  const reply = await post(url);
  expect(reply.kind).toBe(kind);
  if (kind === 'failed') expect(reply).toMatchObject({ outcome: 'invalid', code: 'answer_too_large' });
});

test('an endless answer is cut off, and its sender notices', async () => {
  let closed = (): void => undefined;
  const noticed = new Promise<void>((resolve) => (closed = resolve));
  const url = await serve((request, response) => {
    request.resume();
    const write = (): void => {
      if (!response.destroyed) response.write(Buffer.alloc(65_536, MARKER), () => setImmediate(write));
    };
    response.on('close', () => closed());
    write();
  });
  expect(await post(url)).toMatchObject({ code: 'answer_too_large' });
  await noticed;
});

test.each([
  ['204', 'HTTP/1.1 204 No Content\r\n\r\n', { kind: 'answer', status: 204 }],
  ['an empty 200', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', { kind: 'answer', status: 200 }],
  [
    'Retry-After in seconds',
    'HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n',
    { status: 429, retryAfterSeconds: 7 },
  ],
])('%s is an answer', async (_, bytes, expected) => {
  expect(await post(await speak(bytes))).toMatchObject(expected);
});

test('a Retry-After that is a date is left out', async () => {
  const reply = await post(
    await speak('HTTP/1.1 503 No\r\nRetry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\nContent-Length: 0\r\n\r\n'),
  );
  expect(reply).not.toHaveProperty('retryAfterSeconds');
});

test.each([
  ['nothing', '', 'connection_reset'],
  ['garbage', `${MARKER}\r\n\r\n`, 'connection_reset'],
  [
    'an answer that ends too early',
    `HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n${MARKER}`,
    'connection_reset',
  ],
  [
    'chunks that end too early',
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n${MARKER}`,
    'connection_reset',
  ],
  [
    'an answer that is compressed',
    `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 20\r\n\r\n${MARKER}`,
    'answer_encoded',
  ],
])('%s is told as what it is, without a byte of it', async (_, bytes, code) => {
  const reply = await post(await speak(bytes));
  expect(reply).toMatchObject({ kind: 'failed', code });
  expect(JSON.stringify(reply)).not.toMatch(/MARKER|header-secret/);
});

test('a server that speaks no TLS, one that has no certificate, and one that nobody vouches for are not trusted', async () => {
  const plain = await listening(createServer());
  const bare = await listening(
    createTlsServer({}, (socket) => socket.end()).on('tlsClientError', () => undefined),
  );
  const own = await listening(
    createTlsServer(SELF_SIGNED, (socket) => socket.end()).on('tlsClientError', () => undefined),
  );
  for (const port of [plain, bare, own]) {
    expect(await post(`https://localhost:${port}/`)).toMatchObject({
      outcome: 'unreachable',
      code: 'tls_failed',
    });
  }
});

test.each([
  ['headers that do not come', (): void => undefined],
  [
    'a body that does not end',
    (_: IncomingMessage, response: Parameters<RequestListener>[1]): void => {
      response.writeHead(200).write(MARKER);
    },
  ],
  [
    'a body that trickles',
    (_: IncomingMessage, response: Parameters<RequestListener>[1]): void => {
      const timer = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(timer));
    },
  ],
])('%s time out', async (_, listener) => {
  const reply = await post(await serve(listener), { timeoutMs: 200 });
  expect(reply).toMatchObject({ kind: 'failed', outcome: 'timeout', code: 'hook_timeout' });
});

test('whoever gives up is told so, before and during a request', async () => {
  const url = await serve(() => undefined);
  await expect(post(url, { signal: AbortSignal.abort(new Error('given up')) })).rejects.toThrow('given up');
  const controller = new AbortController();
  const asking = post(url, { signal: controller.signal });
  setTimeout(() => controller.abort(new Error('given up')), 50);
  await expect(asking).rejects.toThrow('given up');
});

test('a name that does not resolve, and a port that nobody listens on', async () => {
  expect(await post('https://no-such-name.invalid/')).toMatchObject({
    outcome: 'unreachable',
    code: 'dns_failed',
  });
  const lost = new OutboundHttp({
    rules: { development: true, allow: NOTHING_ALLOWED },
    lookup: (_, callback) => callback(Object.assign(new Error('no'), { code: 'EAI_AGAIN' }), []),
  });
  const ask = { headers: {}, body: '', timeoutMs: 2_000, maxAnswerBytes: 1 };
  expect(await lost.send({ url: 'https://hooks.example.com/', ...ask })).toMatchObject({
    code: 'dns_failed',
  });
  await lost.close();
  expect(await post('http://localhost:1443/')).toMatchObject({ code: 'connection_refused' });
});
