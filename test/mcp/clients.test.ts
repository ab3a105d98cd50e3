import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startMcpServer, type McpToolServer } from '../support/mcp-server';
import { Scene } from '../support/scene';
import { startStack, type Stack } from '../support/stack';
import { mcpKit, run, type McpKit, type Ran } from './kit';

/** Clients of others, as their users run them: the MCP Inspector's command line and the official Python SDK. */
const REGISTER = join(__dirname, '../embedded/fixtures/register-typescript.cjs');
const MAIN = join(__dirname, '../../src/cli/main.ts');

let kit: McpKit;
let stack: Stack;
let server: McpToolServer;
let at: Scene;
let home: string;

beforeAll(async () => {
  kit = await mcpKit();
  stack = await startStack();
  home = mkdtempSync(join(tmpdir(), 'mcp-clients-'));
}, 600_000);
beforeEach(async () => {
  server = await startMcpServer([{ name: 'echo' }, { name: 'pay' }, { name: 'drop' }]);
  at = await Scene.set(stack, [{ id: 'person', tools: ['pay'] }], undefined, {
    tools: [{ kind: 'mcp', name: 'remote', url: server.url }],
    permissions: [{ id: 'no-drop', effect: 'deny', tools: ['drop'], reason: 'never' }],
  });
});
afterEach(() => server.close());
afterAll(async () => {
  await stack.stop();
  rmSync(home, { recursive: true, force: true });
});

const url = (): string => `${stack.nexus.url}/mcp/${at.profileId}`;

/** Answers the next wait of the scene's agent. */
async function approveNext(): Promise<void> {
  for (;;) {
    const { body } = await at.approver.get('/v1/waits');
    const [wait] = body.items;
    if (wait !== undefined) {
      await at.approver.post(`/v1/threads/${wait.threadId}/waits/${wait.id}/resolve`, { decision: 'allow' });
      return;
    }
    await sleep(50);
  }
}

function inspect(target: readonly string[], method: readonly string[]): Promise<Ran> {
  const inspector = kit.file('inspector/clients/launcher/build/index.js');
  return run(kit.node, [inspector, '--cli', ...target, '--method', ...method], {
    env: { HOME: home },
    cwd: home,
  });
}

const overHttp = (): string[] => [
  url(),
  '--transport',
  'http',
  '--header',
  `Authorization: Bearer ${at.agent.token}`,
];
const overStdio = (): string[] => [
  ...['-e', `PORTCULLIS_KEY=${at.agent.token}`],
  ...[
    process.execPath,
    '--require',
    REGISTER,
    MAIN,
    'mcp',
    '--profile',
    at.profileId,
    '--url',
    stack.nexus.url,
  ],
];

test.each([
  ['over HTTP', overHttp],
  ['through portcullis mcp', overStdio],
])('the MCP Inspector lists and calls tools %s: free, denied and parked', async (_how, target) => {
  const listed = await inspect(target(), ['tools/list']);
  expect([listed.code, listed.err]).toEqual([0, expect.anything()]);
  expect(JSON.parse(listed.out).tools.map(({ name }: { name: string }) => name)).toEqual([
    'echo',
    'pay',
    'drop',
  ]);

  const free = await inspect(target(), ['tools/call', '--tool-name', 'echo', '--tool-arg', 'n=1']);
  expect(JSON.parse(free.out).content).toEqual([{ type: 'text', text: '{"n":1}' }]);

  const denied = await inspect(target(), ['tools/call', '--tool-name', 'drop']);
  expect(JSON.parse(denied.out)).toMatchObject({ isError: true });
  expect(JSON.parse(denied.out).content[0].text).toMatch(/permissions of this agent deny/);

  const parked = inspect(target(), ['tools/call', '--tool-name', 'pay', '--tool-arg', 'n=2']);
  await approveNext();
  expect(JSON.parse((await parked).out).content).toEqual([{ type: 'text', text: '{"n":2}' }]);
  expect(server.seen.map(({ name }) => name)).toEqual(['echo', 'pay']);
});

test('the Python SDK calls free, denied, parked and parallel tools, and is told of progress', async () => {
  const ran = run(kit.python, [join(__dirname, 'kit/python-client.py'), url(), at.agent.token], {
    cwd: home,
  });
  await sleep(2_500);
  await approveNext();
  const { code, out, err } = await ran;
  expect([code, err]).toEqual([0, '']);
  const seen = JSON.parse(out);
  expect(seen).toMatchObject({
    tools: ['echo', 'pay', 'drop'],
    free: ['{"n":1}'],
    denied: [true, expect.stringMatching(/permissions of this agent deny/)],
    parked: ['{"n":2}'],
    many: Array.from({ length: 10 }, (_, n) => JSON.stringify({ n })),
  });
  expect(seen.progress).toBeGreaterThan(0);
  expect(server.seen).toHaveLength(12);
});
