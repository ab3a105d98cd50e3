import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { HEADER_SECRET } from '../support/hook-service';
import { said, startMcpServer, type McpToolServer } from '../support/mcp-server';
import { Scene, type SceneHook } from '../support/scene';
import { startStack, type Stack } from '../support/stack';

let stack: Stack;
let server: McpToolServer;

const PROGRAM = join(__dirname, 'stdio-program.cjs');

beforeAll(async () => {
  stack = await startStack({
    mcpServers: new Map([
      [
        'program',
        {
          command: process.execPath,
          args: [PROGRAM],
          env: { SHOWN: 'plain', TOKEN: { secret: 'header' } },
        },
      ],
      ['dying', { command: process.execPath, args: [PROGRAM, 'die'], env: {} }],
      ['absent', { command: '/nowhere/at/all', args: [], env: {} }],
    ]),
  });
});
beforeEach(async () => {
  server = await startMcpServer();
});
afterEach(async () => {
  await server.close();
});
afterAll(async () => {
  await stack.stop();
});

const entry = (more: object = {}) => ({ kind: 'mcp', name: 'remote', url: server.url, ...more });

const scene = (hooks: readonly SceneHook[], more: object = {}): Promise<Scene> =>
  Scene.set(stack, hooks, undefined, { tools: [entry(more)] });

async function run(at: Scene, tool: string, input: unknown = {}, seconds = 20) {
  const headers = { 'idempotency-key': randomUUID(), prefer: `wait=${seconds}` };
  return at.call(tool, input, headers, { execution: 'server' });
}

test('a tool of a server is a tool of the profile under its prefix, and its result is kept as it came', async () => {
  const image = { type: 'image', data: Buffer.from([0, 255, 1]).toString('base64'), mimeType: 'image/png' };
  const result = {
    content: [{ type: 'text', text: '' }, image],
    structuredContent: { value: null, list: [] },
    _meta: { 'example.com/a': 1 },
  };
  server.behave(() => result);
  const at = await scene([], { prefix: 'far.' });
  const { body } = await run(at, 'far.echo', { a: 1 });
  expect(body).toMatchObject({ status: 'completed', executed: true });
  expect(body.output).toEqual(result);
  expect(server.seen).toHaveLength(1);
  expect(server.seen[0]).toMatchObject({ name: 'echo', input: { a: 1 } });
  expect(server.seen[0]?.meta['portcullis/idempotency-key']).toBe(body.id);
});

test.each(['constructor', '__proto__', 'toString'])(
  'a tool named %s is a tool like any other',
  async (name) => {
    server.offer([{ name }]);
    const at = await scene([]);
    expect((await run(at, name, JSON.parse('{"__proto__":{"x":1}}'))).body.status).toBe('completed');
    expect(server.seen.map((seen) => seen.name)).toEqual([name]);
    // Names that no server offers find nothing that every object has.
    server.offer([{ name: 'echo' }]);
    await server.announceChange();
    const other = await Scene.set(stack, [], undefined, { tools: [entry({ prefix: 'x.' })] });
    expect((await run(other, `x.${name}`)).status).toBe(422);
  },
);

test('an error that the tool reports fails the call with all that it said', async () => {
  server.behave(() => ({ ...said('no such file'), isError: true }));
  const at = await scene([]);
  const { body } = await run(at, 'echo');
  expect(body).toMatchObject({ status: 'failed', executed: true, error: { code: 'tool_error' } });
  expect(body.error.result).toEqual({ ...said('no such file'), isError: true });
});

test('an error of the protocol fails the call', async () => {
  server.behave(() => {
    throw new Error('inside');
  });
  const at = await scene([]);
  const { body } = await run(at, 'echo');
  expect(body).toMatchObject({ status: 'failed', executed: 'unknown', error: { code: 'protocol_error' } });
});

test('a result of 3 MiB is not cut: the tool has run, and that is said', async () => {
  server.behave(() => said('x'.repeat(3 * 1024 * 1024)));
  const at = await scene([]);
  expect((await run(at, 'echo')).body).toMatchObject({
    status: 'failed',
    executed: true,
    error: { code: 'result_too_large' },
  });
  expect(server.seen).toHaveLength(1);
});

/** A call that waits for a person, and what becomes of it once it is approved. */
async function approvedAfter(change: () => unknown) {
  server.offer([{ name: 'pay', inputSchema: { type: 'object', properties: { n: { type: 'number' } } } }]);
  const at = await scene([{ id: 'person' }]);
  const parked = await run(at, 'pay', { n: 1 }, 0);
  expect(parked.body.status).toBe('waiting');
  await change();
  await at.resolve(parked.body.pendingWaits[0].id, { decision: 'allow' });
  return (await at.read(parked.body.id, 20)).body;
}

test('a tool that vanishes while its call is parked is not run', async () => {
  const body = await approvedAfter(() => server.offer([{ name: 'other' }]));
  expect(body).toMatchObject({ status: 'failed', executed: false, error: { code: 'tool_gone' } });
  expect(server.seen).toHaveLength(0);
});

test('a tool whose schema changes between approval and execution is not run', async () => {
  const body = await approvedAfter(() =>
    server.offer([{ name: 'pay', inputSchema: { type: 'object', properties: { n: {} } } }]),
  );
  expect(body).toMatchObject({ status: 'failed', executed: false, error: { code: 'tool_changed' } });
  expect(server.seen).toHaveLength(0);
});

test('a server that has forgotten the session is asked in a new one, and the tool runs once', async () => {
  const body = await approvedAfter(() => server.forgetSessions());
  expect(body).toMatchObject({ status: 'completed', executed: true });
  expect(server.seen).toHaveLength(1);
});

test('a call that finds the session forgotten does not end the others that still use it', async () => {
  let finish: (result: object) => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    server.behave(({ input }) => {
      if (input.n !== 'slow') return said(String(input.n));
      resolve();
      return new Promise<object>((later) => (finish = later));
    });
  });
  const at = await scene([]);
  const slow = run(at, 'echo', { n: 'slow' });
  await begun;
  server.forgetSessions();
  const others = await Promise.all(['a', 'b', 'c'].map((n) => run(at, 'echo', { n })));
  expect(others.map(({ body }) => body.output)).toEqual(['a', 'b', 'c'].map(said));
  expect(server.sessions).toBe(2);
  finish(said('slow'));
  expect((await slow).body).toMatchObject({ status: 'completed', executed: true, output: said('slow') });
});

test('a server that is gone when the approval comes has run nothing', async () => {
  const body = await approvedAfter(() => server.close());
  expect(body).toMatchObject({ status: 'failed', executed: false });
  expect(server.seen).toHaveLength(0);
});

test('a server that hangs up during the call leaves the outcome unknown, long before the time-out', async () => {
  server.behave(async () => {
    void server.close();
    return new Promise<object>(() => undefined);
  });
  const at = await scene([], { timeoutMs: 60_000 });
  const { body } = await run(at, 'echo');
  expect(body).toMatchObject({ status: 'failed', executed: 'unknown', error: { code: 'outcome_unknown' } });
  expect(server.seen).toHaveLength(1);
});

test('a call that takes too long leaves the outcome unknown', async () => {
  server.behave(() => new Promise<object>(() => undefined));
  const at = await scene([], { timeoutMs: 400 });
  const { body } = await run(at, 'echo');
  expect(body).toMatchObject({ status: 'failed', executed: 'unknown', error: { code: 'outcome_unknown' } });
});

test('many calls at once share a session, and each gets its own result', async () => {
  server.behave(({ input }) => said(String(input.n)));
  const at = await scene([]);
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => [n, (await run(at, 'echo', { n })).body.output] as const),
  );
  for (const [n, output] of answers) expect(output).toEqual(said(String(n)));
  // One for listing in the server process' place, one for running in the worker's; here they are one process.
  expect(server.sessions).toBe(1);
});

test('only the tools that the profile takes are there; a server that cannot be asked is not taken for one without tools', async () => {
  server.offer([{ name: 'read' }, { name: 'write' }]);
  const at = await scene([], { tools: ['read'] });
  expect((await run(at, 'read')).body.status).toBe('completed');
  expect((await run(at, 'write')).status).toBe(422);
  const lost = await Scene.set(stack, [], undefined, {
    tools: [{ kind: 'mcp', name: 'lost', url: 'http://localhost:9/mcp', prefix: 'lost.' }],
  });
  const answer = await run(lost, 'lost.x');
  expect([answer.status, answer.body.servers]).toEqual([503, ['lost']]);
});

test('a header with a secret is sent with every request', async () => {
  const at = await scene([], { headers: { authorization: { secret: 'header', prefix: 'Bearer ' } } });
  expect((await run(at, 'echo')).body.status).toBe('completed');
  expect(server.seen[0]?.headers['authorization']).toBe(`Bearer ${HEADER_SECRET}`);
});

const program = (server: string, more: object = {}) => ({ kind: 'mcp', name: 'local', server, ...more });

test('a program that the operator declared runs with its declared environment and nothing else', async () => {
  const at = await Scene.set(stack, [], undefined, { tools: [program('program')] });
  const { body } = await run(at, 'environment');
  expect(JSON.parse(body.output.content[0].text)).toEqual({ SHOWN: 'plain', TOKEN: HEADER_SECRET });
});

test('a program that dies during a call leaves the outcome unknown, and the next call gets a new one', async () => {
  const at = await Scene.set(stack, [], undefined, { tools: [program('dying')] });
  const { body } = await run(at, 'die');
  expect(body).toMatchObject({ status: 'failed', executed: 'unknown', error: { code: 'outcome_unknown' } });
  expect((await run(at, 'environment')).body.status).toBe('completed');
});

test.each(['absent', 'undeclared'])('a profile cannot run a program by naming it: %s', async (name) => {
  const at = await Scene.set(stack, [], undefined, { tools: [program(name)] });
  expect((await run(at, 'environment')).status).toBe(503);
});

test.each([
  'https://10.0.0.1/mcp',
  'https://169.254.169.254/mcp',
  'https://[::ffff:127.0.0.1]/mcp',
  'https://0x7f000001/mcp',
])('a server at %s is not asked: its address is not for profiles', async (address) => {
  const at = await Scene.set(stack, [], undefined, { tools: [entry({ url: address })] });
  expect((await run(at, 'echo')).status).toBe(503);
});

test('a server that answers with a redirect, or compressed, is not followed', async () => {
  for (const headers of [{ location: server.url }, { 'content-encoding': 'gzip' }]) {
    const lure = createServer((_, response) => {
      response.writeHead('location' in headers ? 307 : 200, headers as Record<string, string>).end();
    });
    await new Promise<void>((resolve) => lure.listen(0, '127.0.0.1', resolve));
    const { port } = lure.address() as AddressInfo;
    const at = await Scene.set(stack, [], undefined, {
      tools: [entry({ url: `http://localhost:${port}/mcp` })],
    });
    expect((await run(at, 'echo')).status).toBe(503);
    await new Promise<void>((resolve) => {
      lure.close(() => resolve());
      lure.closeAllConnections();
    });
  }
  expect(server.seen).toHaveLength(0);
});
