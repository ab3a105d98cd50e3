import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ndjson } from '../../src/server/http/ndjson';
import { sse, type SseEvent, type SseOptions } from '../../src/server/http/sse';
import type { AnyAnswer } from '../../src/server/http/answer';
import { closeServers, defineRoute, problemOf, serve } from './fixture';

afterEach(closeServers);

const answering = (answer: () => AnyAnswer) =>
  defineRoute({
    method: 'GET',
    path: '/stream',
    operationId: 'stream',
    summary: 's',
    tags: ['t'],
    auth: 'none',
    responses: { 200: { description: 'ok', media: ['text/event-stream'] } },
    handler: () => answer() as never,
  });

const events = (source: (stop: AbortSignal) => AsyncIterable<SseEvent>, options?: SseOptions) =>
  answering(() => sse(source, options));

/** Waits for `stop` as a subscription would: nothing else wakes it. */
const forever = (stop: AbortSignal) =>
  new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }));

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 5_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('the condition did not come true');
    await sleep(5);
  }
}

function openRaw(port: number): Socket {
  const socket = connect(port, '127.0.0.1', () => socket.write('GET /stream HTTP/1.1\r\nHost: x\r\n\r\n'));
  socket.on('error', () => undefined);
  return socket;
}

test('an event stream is retry, id, event and one line of data each', async () => {
  const route = events(
    async function* () {
      yield { id: '1', event: 'call', data: { text: 'two\nlines', u: '\u2028' } };
      yield { data: null };
    },
    { retryMs: 1234 },
  );
  const { url } = await serve([route]);
  const response = await fetch(`${url}/stream`);
  expect(response.headers.get('Content-Type')).toBe('text/event-stream; charset=utf-8');
  expect(response.headers.get('Cache-Control')).toBe('no-store');
  expect(await response.text()).toBe(
    'retry: 1234\n\nid: 1\nevent: call\ndata: {"text":"two\\nlines","u":"\u2028"}\n\ndata: null\n\n',
  );
});

test('the head of an event stream goes out before there is an event, and comments break the silence', async () => {
  const route = events(
    async function* (stop) {
      await forever(stop);
    },
    { keepAliveMs: 20 },
  );
  const { url } = await serve([route]);
  const response = await fetch(`${url}/stream`);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let heard = '';
  while (!/(: keep-alive\n\n){3}/.test(heard)) heard += (await reader?.read())?.value ?? '';
  expect(heard).toMatch(/^retry: 3000\n\n(: keep-alive\n\n)+$/);
  await reader?.cancel();
});

test('a slow SSE reader does not grow memory: nothing is asked of the source until the last event has left', async () => {
  let asked = 0;
  const data = 'x'.repeat(65_536);
  const route = events(
    async function* (stop) {
      while (!stop.aborted) {
        asked += 1;
        yield { data };
      }
    },
    { keepAliveMs: 5 },
  );
  const { port } = await serve([route]);
  const socket = openRaw(port).pause();
  let before = -1;
  while (before !== asked || asked === 0) {
    before = asked;
    await sleep(200);
  }
  // What the kernel took is bounded; a writer without back-pressure would never come to rest here.
  expect(asked).toBeLessThan(1_000);
  const heapBefore = process.memoryUsage().arrayBuffers;
  await sleep(200);
  expect(asked).toBe(before);
  expect(process.memoryUsage().arrayBuffers - heapBefore).toBeLessThan(65_536);
  let heard = '';
  socket.on('data', (chunk) => (heard += chunk.toString('latin1'))).resume();
  await until(() => asked > before + 100);
  // Nor did keep-alives pile up behind the event that could not leave.
  expect(heard.split(': keep-alive').length).toBeLessThan(20);
  socket.destroy();
});

test.each(['while it waits', 'while it is blocked by a full buffer'])(
  'a source is stopped and closed when its client goes %s',
  async (when) => {
    let closed = false;
    let asked = 0;
    const route = events(async function* (stop) {
      try {
        if (when === 'while it waits') {
          yield { data: 0 };
          asked += 1;
          await forever(stop);
        } else {
          while (!stop.aborted) {
            asked += 1;
            yield { data: 'x'.repeat(1_000_000) };
          }
        }
      } finally {
        closed = true;
      }
    });
    const { port, lines } = await serve([route]);
    const socket = openRaw(port);
    if (when === 'while it waits') socket.resume();
    await until(() => asked > 0);
    await sleep(100);
    expect(closed).toBe(false);
    socket.destroy();
    await until(() => closed && lines.length > 0);
    expect(lines).toEqual([expect.objectContaining({ aborted: true })]);
  },
);

test('a source that ignores its signal cannot keep the answer open', async () => {
  const route = events(async function* () {
    yield { data: 1 };
    await new Promise(() => undefined);
  });
  const server = await serve([route]);
  const response = await fetch(`${server.url}/stream`);
  const text = response.text();
  await sleep(50);
  await server.close(10_000);
  expect(await text).toBe('retry: 3000\n\ndata: 1\n\n');
});

test('an id or a name with a line break cannot forge an event', async () => {
  const route = events(async function* () {
    yield { data: 1 };
    yield { id: '1\ndata: forged', data: 2 };
  });
  const { url } = await serve([route]);
  const response = await fetch(`${url}/stream`);
  await expect(response.text()).rejects.toThrow();
});

test('HEAD of a stream is its head, and the source is not touched', async () => {
  let touched = false;
  const route = events(async function* () {
    touched = true;
    yield { data: 1 };
  });
  const { url } = await serve([route]);
  const response = await fetch(`${url}/stream`, { method: 'HEAD' });
  expect([response.headers.get('Content-Type'), await response.text()]).toEqual([
    'text/event-stream; charset=utf-8',
    '',
  ]);
  expect(touched).toBe(false);
});

test('NDJSON is one value per line', async () => {
  const route = answering(() =>
    ndjson(async function* () {
      yield { a: '\n' };
      yield 2;
    }),
  );
  const { url } = await serve([route]);
  const response = await fetch(`${url}/stream`);
  expect(response.headers.get('Content-Type')).toMatch(/^application\/x-ndjson/);
  expect(await response.text()).toBe('{"a":"\\n"}\n2\n');
  const empty = await serve([answering(() => ndjson(async function* () {}))]);
  expect(await (await fetch(`${empty.url}/stream`)).text()).toBe('');
});

test('a list that fails before its first line is a problem; one that fails later is visibly cut off', async () => {
  const failing = (lines: number) =>
    answering(() =>
      ndjson(async function* () {
        for (let line = 0; line < lines; line += 1) yield line;
        throw new Error('sk_secret');
      }),
    );
  const early = await serve([failing(0)]);
  const response = await fetch(`${early.url}/stream`);
  expect(response.status).toBe(500);
  expect(JSON.stringify(await problemOf(response))).not.toContain('sk_secret');
  const late = await serve([failing(2)]);
  await expect(fetch(`${late.url}/stream`).then((cut) => cut.text())).rejects.toThrow();
  expect(late.lines).toContainEqual(expect.objectContaining({ msg: 'request failed' }));
});
