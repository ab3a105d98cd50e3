import { setTimeout as sleep } from 'node:timers/promises';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ToolListChangedNotificationSchema, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { pino } from 'pino';
import { startNexus } from '../../src/server/nexus/start-nexus';
import { testOutbound, testSecrets, testToolbox } from '../support/hook-service';
import { startMcpServer, type McpToolServer } from '../support/mcp-server';
import { Scene } from '../support/scene';
import { startStack, type Stack } from '../support/stack';

/** `portcullis mcp` as a client starts it: a process of its own, with the official SDK on the other end of its pipes. */
const REGISTER = join(__dirname, '../embedded/fixtures/register-typescript.cjs');
const MAIN = join(__dirname, '../../src/cli/main.ts');

let stack: Stack;
let server: McpToolServer;
let at: Scene;

beforeAll(async () => {
  stack = await startStack();
  server = await startMcpServer([{ name: 'echo' }, { name: 'pay' }]);
  at = await Scene.set(stack, [{ id: 'person', tools: ['pay'] }], undefined, {
    tools: [{ kind: 'mcp', name: 'remote', url: server.url }],
  });
});
afterAll(async () => {
  await server.close();
  await stack.stop();
});

const argv = (...more: string[]) => [
  '--require',
  REGISTER,
  MAIN,
  'mcp',
  '--profile',
  at.profileId,
  '--url',
  stack.nexus.url,
  ...more,
];

async function withBridge(more: string[], use: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ name: 'tests', version: '1' });
  const env = { PORTCULLIS_KEY: at.agent.token };
  await client.connect(new StdioClientTransport({ command: process.execPath, args: argv(...more), env }));
  try {
    await use(client);
  } finally {
    await client.close();
  }
}

const call = (client: Client, name: string, input: Record<string, unknown>, options = {}) =>
  client.callTool({ name, arguments: input }, undefined, options) as Promise<CallToolResult>;

async function waitsOfPay(count: number) {
  for (;;) {
    const { body } = await at.approver.get('/v1/waits');
    if (body.items.length >= count) return body.items;
    await sleep(20);
  }
}

const waitOfPay = async () => (await waitsOfPay(1))[0];

test('a client over standard input and output gets the tools, their results, denials for now and progress', async () => {
  await withBridge(['--wait', '1'], async (client) => {
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['echo', 'pay']);
    expect(client.getInstructions()).toContain('approved');
    expect((await call(client, 'echo', { n: 1 })).content).toEqual([{ type: 'text', text: '{"n":1}' }]);
    const pending = await call(client, 'pay', { n: 2 });
    expect(pending._meta?.['portcullis/call']).toMatchObject({ denial: { by: 'pending', executed: false } });
    const wait = await waitOfPay();
    const told: unknown[] = [];
    const again = call(client, 'pay', { n: 2 }, { onprogress: (one: unknown) => told.push(one) });
    await at.approver.post(`/v1/threads/${wait.threadId}/waits/${wait.id}/resolve`, { decision: 'allow' });
    expect((await again).content).toEqual([{ type: 'text', text: '{"n":2}' }]);
    await expect(call(client, 'nothing', {})).rejects.toMatchObject({ code: -32602 });
  });
  expect(server.seen.map(({ name }) => name)).toEqual(['echo', 'pay']);
});

test('a change of the tools is passed on, and a cancellation gives the call up', async () => {
  await withBridge([], async (client) => {
    let changed = false;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      changed = true;
    });
    await client.listTools();
    await sleep(500);
    await server.announceChange();
    while (!changed) await sleep(20);
    const cancel = new AbortController();
    const result = call(client, 'pay', { n: 3 }, { signal: cancel.signal });
    const wait = await waitOfPay();
    cancel.abort();
    await expect(result).rejects.toThrow();
    for (let status = ''; status !== 'cancelled'; await sleep(20)) {
      const { body } = await at.approver.get(`/v1/threads/${wait.threadId}/tool-calls/${wait.callId}`);
      status = body.status;
    }
  });
});

/** The command until it ends; its standard output must stay empty, because that is the protocol's. */
function run(args: readonly string[], env: Record<string, string>) {
  return new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    const child = spawn(process.execPath, [...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    child.once('exit', (code) => resolve({ code, out, err }));
  });
}

test.each([
  ['without a key', {}, [], /set PORTCULLIS_KEY/],
  ['with a wrong key', { PORTCULLIS_KEY: 'pk_a_b_c' }, [], /no thread could be made .*PORTCULLIS_KEY/],
  ['where nobody answers', { PORTCULLIS_KEY: 'x' }, ['--url', 'http://127.0.0.1:9'], /does not answer at/],
  ['with a wrong profile', undefined, ['--profile', 'nope'], /profile nope/],
  ['with no address', { PORTCULLIS_KEY: 'x' }, ['--url', 'nonsense'], /is no address/],
])('%s it says in a sentence what to do, and ends', async (_what, env, more, message) => {
  const { code, out, err } = await run(argv(...more), env ?? { PORTCULLIS_KEY: at.agent.token });
  expect([code, out]).toEqual([1, '']);
  expect(err).toMatch(message);
  expect(err).not.toContain('at Object.');
});

test('parked calls outlive a restart of Nexus: each gets its own result, and the tool ran once for each', async () => {
  const secrets = testSecrets(stack.tenant);
  const http = testOutbound();
  const { stores, client: temporal, taskQueue } = stack;
  await withBridge([], async (client) => {
    const before = server.seen.length;
    const results = [4, 5].map((n) => call(client, 'pay', { n }));
    const waits = await waitsOfPay(results.length);
    await stack.nexus.close(0);
    await sleep(500);
    const nexus = await startNexus({
      ...{ stores, client: temporal, taskQueue, secrets, toolbox: testToolbox(http, secrets) },
      ...{ development: true, version: '0.0.0', host: '127.0.0.1', port: stack.nexus.port },
      log: pino({ level: 'silent' }),
    });
    try {
      for (const { threadId, id } of waits)
        await at.approver.post(`/v1/threads/${threadId}/waits/${id}/resolve`, { decision: 'allow' });
      const texts = (await Promise.all(results)).map(({ content }) => content);
      expect(texts).toEqual([4, 5].map((n) => [{ type: 'text', text: `{"n":${n}}` }]));
      expect(server.seen).toHaveLength(before + 2);
    } finally {
      await nexus.close(0);
      await http.close();
    }
  });
});
