import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Scene } from '../support/scene';
import { startStack, type Stack } from '../support/stack';
import { mcpKit, type McpKit } from './kit';

/** Servers of others behind a profile: as programs that the operator declared, and by address. */
let kit: McpKit;
let stack: Stack;
let folder: string;
let http: ChildProcess;
let url: string;

beforeAll(async () => {
  kit = await mcpKit();
  folder = mkdtempSync(join(tmpdir(), 'mcp-files-'));
  writeFileSync(join(folder, 'a.txt'), 'hällo\n');
  const everything = kit.file('server-everything/dist/index.js');
  stack = await startStack({
    mcpServers: new Map([
      [
        'files',
        { command: process.execPath, args: [kit.file('server-filesystem/dist/index.js'), folder], env: {} },
      ],
      ['everything', { command: process.execPath, args: [everything, 'stdio'], env: {} }],
    ]),
  });
  const port = await freePort();
  http = spawn(process.execPath, [everything, 'streamableHttp'], {
    env: { PORT: String(port) },
    stdio: 'ignore',
  });
  url = `http://localhost:${port}/mcp`;
  for (let answered = false; !answered; await sleep(100)) {
    answered = await fetch(url).then(
      () => true,
      () => false,
    );
  }
}, 600_000);
afterAll(async () => {
  await stack.stop();
  const gone = new Promise((resolve) => http.once('exit', resolve));
  http.kill('SIGKILL');
  await gone;
  rmSync(folder, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function run(at: Scene, tool: string, input: unknown, seconds = 20) {
  const headers = { 'idempotency-key': randomUUID(), prefer: `wait=${seconds}` };
  const { body } = await at.call(tool, input, headers, { execution: 'server' });
  return body;
}

test('server-filesystem reads at once, and writes only once a person has approved what is written', async () => {
  const at = await Scene.set(stack, [{ id: 'person', tools: ['files.write_*', 'files.edit_*'] }], undefined, {
    tools: [{ kind: 'mcp', name: 'files', server: 'files', prefix: 'files.' }],
  });
  const path = join(folder, 'a.txt');
  const read = await run(at, 'files.read_text_file', { path });
  expect(read.output).toMatchObject({ content: [{ type: 'text', text: 'hällo\n' }] });
  const written = await run(at, 'files.write_file', { path, content: 'bad' }, 0);
  expect(written.status).toBe('waiting');
  expect(readFileSync(path, 'utf8')).toBe('hällo\n');
  await at.resolve(written.pendingWaits[0].id, {
    decision: 'allow',
    updatedInput: { path, content: 'good' },
  });
  expect((await at.read(written.id, 20)).body).toMatchObject({ status: 'completed', executed: true });
  expect(readFileSync(path, 'utf8')).toBe('good');
  const outside = await run(at, 'files.read_text_file', { path: '/etc/passwd' });
  expect(outside).toMatchObject({ status: 'failed', executed: true, error: { code: 'tool_error' } });
});

test.each<[string, () => { server?: string; url?: string }]>([
  ['as a program', () => ({ server: 'everything' })],
  ['by address', () => ({ url })],
])(
  'server-everything %s gives text, images, resources, structure and errors as they are',
  async (_how, where) => {
    const at = await Scene.set(stack, [], undefined, { tools: [{ kind: 'mcp', name: 'all', ...where() }] });
    expect((await run(at, 'echo', { message: 'hi' })).output.content).toEqual([
      { type: 'text', text: 'Echo: hi' },
    ]);
    const image = await run(at, 'get-tiny-image', {});
    expect(image.output.content.map(({ type }: { type: string }) => type)).toContain('image');
    const structured = await run(at, 'get-structured-content', { location: 'New York' });
    expect(structured.output.structuredContent).toMatchObject({ temperature: expect.any(Number) });
    const sum = await run(at, 'get-sum', { a: 2, b: 3 });
    expect(sum.output.content[0].text).toContain('5');
    // The environment of the program is the one that was declared, which is none.
    if (where().server !== undefined) {
      const env = await run(at, 'get-env', {});
      expect(JSON.parse(env.output.content[0].text)).toEqual({});
    }
  },
);
