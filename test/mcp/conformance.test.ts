import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startMcpServer, type McpBehaviour, type McpToolServer } from '../support/mcp-server';
import { Scene } from '../support/scene';
import { startStack, type Stack } from '../support/stack';
import { startBearerProxy } from './bearer-proxy';
import { mcpKit, run, type McpKit } from './kit';

/**
 * The conformance suite of the Model Context Protocol. The gateway stands before a server that has the tools which the
 * suite wants, with a profile that objects to nothing; docs/conformance.md says which scenarios do not apply, and why.
 */
const PNG = Buffer.from('iVBORw0KGgo', 'utf8').toString('base64');

const resource = (uri: string, mimeType: string, text: string) => ({
  type: 'resource',
  resource: { uri, mimeType, text },
});

const TOOLS: Record<string, McpBehaviour> = {
  test_simple_text: () => ({
    content: [{ type: 'text', text: 'This is a simple text response for testing.' }],
  }),
  test_image_content: () => ({ content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: PNG, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({
    content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  }),
  test_multiple_content_types: () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: PNG, mimeType: 'image/png' },
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  }),
  test_error_handling: () => ({
    isError: true,
    content: [{ type: 'text', text: 'This tool intentionally returns an error for testing' }],
  }),
  test_tool_with_progress: async (_, tell) => {
    for (const progress of [0, 50, 100]) {
      await tell(progress, 100);
      await sleep(50);
    }
    return { content: [{ type: 'text', text: 'done' }] };
  },
  json_schema_2020_12_tool: () => ({ content: [{ type: 'text', text: 'ok' }] }),
};

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
  },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  additionalProperties: false,
};

let kit: McpKit;
let stack: Stack;
let server: McpToolServer;
let at: Scene;

beforeAll(async () => {
  kit = await mcpKit();
  stack = await startStack();
  server = await startMcpServer(
    Object.keys(TOOLS).map((name) => ({
      name,
      description: `The tool ${name}.`,
      ...(name.startsWith('json_schema') && { inputSchema: SCHEMA }),
    })),
  );
  server.behave((seen, tell) => TOOLS[seen.name]!(seen, tell));
  at = await Scene.set(stack, [], undefined, { tools: [{ kind: 'mcp', name: 'kit', url: server.url }] });
}, 600_000);
afterAll(async () => {
  await server.close();
  await stack.stop();
});

function conformance(...args: string[]) {
  const cwd = mkdtempSync(join(tmpdir(), 'conformance-'));
  return run(kit.node, [kit.file('conformance/dist/index.js'), ...args], { cwd, env: { HOME: cwd } });
}

/** Scenarios of a server that offers tools. */
const SERVER_SCENARIOS = [
  'server-initialize',
  'ping',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
  'json-schema-2020-12',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
];

test.each(SERVER_SCENARIOS)('the gateway passes the scenario %s', async (scenario) => {
  const proxy = await startBearerProxy(`${stack.nexus.url}/mcp/${at.profileId}`, at.agent.token);
  try {
    const { code, out, err } = await conformance('server', '--url', proxy.url, '--scenario', scenario);
    expect([code, summaryOf(out + err)]).toEqual([0, { failed: 0, passed: expect.any(Number) }]);
    expect(summaryOf(out + err).passed).toBeGreaterThan(0);
  } finally {
    await proxy.close();
  }
});

/** Scenarios of a client that calls tools, which the service is to the servers of a profile. */
const CLIENT_SCENARIOS = ['initialize', 'tools_call', 'sse-retry'];

test.each(CLIENT_SCENARIOS)('the client of MCP servers passes the scenario %s', async (scenario) => {
  const register = join(__dirname, '../embedded/fixtures/register-typescript.cjs');
  const command = [process.execPath, '--require', register, join(__dirname, 'client-program.ts')].join(' ');
  const { code, out, err } = await conformance('client', '--command', command, '--scenario', scenario);
  expect([code, out + err]).toEqual([0, expect.stringMatching(/passed/i)]);
});

function summaryOf(text: string): { passed: number; failed: number } {
  const count = (pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? -1);
  return { passed: count(/Passed: (\d+)/), failed: count(/(\d+) failed/) };
}
