import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { startMcpServer, type McpToolServer } from '../support/mcp-server';
import { startToolServer, type ToolServer } from '../support/tool-server';
import { Scene, type SceneHook } from '../support/scene';
import { startStack, type Stack } from '../support/stack';

/** The gateway as the official SDK's client sees it: over servers of tools that count. */
export interface GatewayFixture {
  stack: Stack;
  server: McpToolServer;
  http: ToolServer;
}

/** Starts and ends what the tests of a file need; its members are there while a test runs. */
export function gatewayFixture(): GatewayFixture {
  const fixture = {} as GatewayFixture;
  beforeAll(async () => {
    fixture.stack = await startStack();
  });
  beforeEach(async () => {
    fixture.server = await startMcpServer([{ name: 'echo' }, { name: 'pay' }, { name: 'drop' }]);
    fixture.http = await startToolServer();
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await fixture.server.close();
    await fixture.http.close();
  });
  afterAll(async () => {
    await fixture.stack.stop();
  });
  return fixture;
}

const clients: Client[] = [];

const PAY: SceneHook = { id: 'person', tools: ['pay'] };
const NO_DROP = { permissions: [{ id: 'no-drop', effect: 'deny', tools: ['drop'], reason: 'never' }] };

/** A profile with the tools of the server: `echo` is free, `pay` is parked, and `drop` is denied. */
export function sceneOf(
  { stack, server }: GatewayFixture,
  hooks: readonly SceneHook[] = [PAY],
  more: object = {},
): Promise<Scene> {
  const tools = [{ kind: 'mcp', name: 'remote', url: server.url }];
  return Scene.set(stack, hooks, undefined, { tools, ...NO_DROP, ...more });
}

/** In the thread of the scene unless `query` says otherwise. */
export async function connect(
  at: Scene,
  query = `?thread=${at.threadId}`,
  token = at.agent.token,
): Promise<Client> {
  const client = new Client({ name: 'tests', version: '1' });
  clients.push(client);
  const url = new URL(`${at.stack.nexus.url}/mcp/${at.profileId}${query}`);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return client;
}

export const call = (client: Client, name: string, input: Record<string, unknown> = {}, options = {}) =>
  client.callTool({ name, arguments: input }, undefined, options) as Promise<CallToolResult>;

export const textOf = ({ content }: CallToolResult): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export const callMeta = ({ _meta }: CallToolResult): any => _meta?.['portcullis/call'];

/** The waits of the scene's thread, once there are so many. */
export async function waitOf(at: Scene, count = 1) {
  for (;;) {
    const { body } = await at.approver.get('/v1/waits');
    const items = body.items.filter(({ threadId }: { threadId: string }) => threadId === at.threadId);
    if (items.length >= count) return items;
    await sleep(20);
  }
}

export const resolve = (at: Scene, wait: { id: string; threadId: string }, body: object) =>
  at.approver.post(`/v1/threads/${wait.threadId}/waits/${wait.id}/resolve`, body);
