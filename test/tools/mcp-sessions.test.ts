import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { call, callMeta, connect, gatewayFixture, resolve, sceneOf, textOf, waitOf } from './gateway-fixture';

const fixture = gatewayFixture();

test('a change of the profile, or of a server, is told to clients', async () => {
  const at = await sceneOf(fixture);
  const client = await connect(at);
  let changes = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changes += 1;
  });
  const until = async (count: number) => {
    while (changes < count) await sleep(20);
  };
  await client.listTools();
  // The stream for notices is opened beside the session's first requests.
  await sleep(300);
  fixture.server.offer([{ name: 'new' }]);
  await fixture.server.announceChange();
  await until(1);
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['new']);
  const changed = await fetch(`${fixture.stack.nexus.url}/v1/profiles/${at.profileId}`, {
    method: 'PATCH',
    headers: {
      authorization: `Bearer ${at.admin.token}`,
      'content-type': 'application/json',
      'if-match': '*',
    },
    body: JSON.stringify({
      configuration: { tools: [{ kind: 'http', name: 'only', method: 'GET', url: fixture.http.url }] },
    }),
  });
  expect(changed.status).toBe(200);
  await until(2);
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['only']);
});

test('a key reaches the profiles that it may see, and only its own sessions', async () => {
  const at = await sceneOf(fixture);
  const client = await connect(at);
  const id = (client.transport as StreamableHTTPClientTransport).sessionId ?? '';
  const other = await fixture.stack.as('other', ['calls']);
  const reader = await fixture.stack.as('reader', ['read']);
  const ask = (token: string | undefined, headers: Record<string, string> = {}, path = at.profileId) =>
    fetch(`${fixture.stack.nexus.url}/mcp/${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
  const session = { 'mcp-session-id': id };
  expect((await ask(at.agent.token, session)).status).toBe(200);
  expect((await ask(other.token, session)).status).toBe(404);
  expect((await ask(at.agent.token, { 'mcp-session-id': randomUUID() })).status).toBe(404);
  expect((await ask(undefined, session)).status).toBe(401);
  expect((await ask('pk_x_y_z', session)).status).toBe(401);
  expect((await ask(reader.token, session)).status).toBe(403);
  expect((await ask(at.agent.token, session, 'unknown')).status).toBe(404);
  expect((await ask(at.agent.token)).status).toBe(400);
  expect((await ask(at.agent.token, { ...session, origin: 'http://evil.example' })).status).toBe(403);
  expect((await ask(at.agent.token, { ...session, origin: 'http://localhost:5173' })).status).toBe(200);
  const limited = await fixture.stack.as('limited', ['calls'], ['some-other-profile']);
  await expect(connect(at, '', limited.token)).rejects.toThrow(/404|Not found/i);
});

test('a session works in a thread of its own, or in the one that its client names if that is its own', async () => {
  const at = await sceneOf(fixture);
  const client = await connect(at);
  expect(callMeta(await call(client, 'echo')).threadId).toBe(at.threadId);
  const own = await connect(at, '');
  const { threadId } = callMeta(await call(own, 'echo'));
  expect(threadId).not.toBe(at.threadId);
  expect(callMeta(await call(own, 'echo')).threadId).toBe(threadId);
  const thread = await at.approver.get(`/v1/threads/${threadId}`);
  expect(thread.body).toMatchObject({ profileId: at.profileId, metadata: { mcpClient: { name: 'tests' } } });
  await expect(connect(at, '?thread=unknown')).rejects.toThrow();
  const strange = await sceneOf(fixture);
  await expect(connect(at, `?thread=${strange.threadId}`)).rejects.toThrow();
});

test('arguments that no tool takes are told as such, and garbage ends nothing', async () => {
  const tools = [
    {
      kind: 'http',
      name: 'strict',
      method: 'POST',
      url: fixture.http.url,
      inputSchema: { type: 'object', required: ['a'] },
    },
  ];
  const at = await sceneOf(fixture, [], { tools });
  const client = await connect(at);
  const refused = await call(client, 'strict', { b: 1 });
  expect([refused.isError, textOf(refused)]).toEqual([
    true,
    `The tool has not run: at "" the input does not satisfy the tool's schema (required).`,
  ]);
  const id = (client.transport as StreamableHTTPClientTransport).sessionId ?? '';
  const post = (body: string, type = 'application/json') =>
    fetch(`${fixture.stack.nexus.url}/mcp/${at.profileId}`, {
      method: 'POST',
      headers: {
        'content-type': type,
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${at.agent.token}`,
        'mcp-session-id': id,
      },
      body,
    });
  for (const body of ['', '{', '1', '{"jsonrpc":"2.0"}', '{"a":1,"a":2}', `"${'x'.repeat(2_000_000)}"`]) {
    const { status } = await post(body);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  }
  expect((await post('{}', 'text/plain')).status).toBe(415);
  expect((await call(client, 'strict', { a: 1 })).isError).toBeUndefined();
  expect(fixture.http.seen).toHaveLength(1);
});

test('a server that cannot be reached is told as a result, and its tools are missing from the list', async () => {
  const at = await sceneOf(fixture, [], {
    tools: [
      { kind: 'mcp', name: 'remote', url: fixture.server.url },
      { kind: 'mcp', name: 'lost', url: 'http://localhost:9/mcp', prefix: 'lost.' },
    ],
  });
  const client = await connect(at);
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['echo', 'pay', 'drop']);
  const result = await call(client, 'lost.x');
  expect([result.isError, textOf(result)]).toEqual([
    true,
    'The tool has not run: its server cannot be reached now.',
  ]);
});

test('a client that names its call has it run once, however often it asks', async () => {
  const at = await sceneOf(fixture);
  const client = await connect(at);
  const named = { name: 'echo', arguments: { n: 1 }, _meta: { 'portcullis/idempotency-key': 'one' } };
  const first = (await client.callTool(named)) as CallToolResult;
  const again = (await client.callTool(named)) as CallToolResult;
  expect(callMeta(again)).toEqual(callMeta(first));
  expect(fixture.server.seen).toHaveLength(1);
});

test('a name that was used for another call runs nothing, and does not get what came of that one', async () => {
  const at = await sceneOf(fixture);
  const client = await connect(at);
  const named = (n: number) => ({
    name: 'echo',
    arguments: { n },
    _meta: { 'portcullis/idempotency-key': 'two' },
  });
  await client.callTool(named(1));
  const other = (await client.callTool(named(2))) as CallToolResult;
  expect(other.isError).toBe(true);
  expect(textOf(other)).toMatch(/^This request ran nothing: .*another request/);
  expect(fixture.server.seen).toHaveLength(1);
});

test('a client whose stream breaks asks on from the last event, and gets the result that it missed', async () => {
  const at = await sceneOf(fixture);
  const client = await connect(at);
  const id = (client.transport as StreamableHTTPClientTransport).sessionId ?? '';
  const ask = (method: 'GET' | 'POST', more: Record<string, string>, body?: object, signal?: AbortSignal) =>
    fetch(`${fixture.stack.nexus.url}/mcp/${at.profileId}`, {
      method,
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        authorization: `Bearer ${at.agent.token}`,
        'mcp-session-id': id,
        'mcp-protocol-version': '2025-11-25',
        ...more,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
  const cut = new AbortController();
  const params = { name: 'pay', arguments: { n: 9 } };
  const first = await ask('POST', {}, { jsonrpc: '2.0', id: 77, method: 'tools/call', params }, cut.signal);
  const opening = await first.body!.getReader().read();
  const eventId = /^id: (\S+)$/m.exec(new TextDecoder().decode(opening.value))?.[1] ?? '';
  expect(eventId).not.toBe('');
  const [wait] = await waitOf(at);
  cut.abort();
  const resumed = await ask('GET', { 'last-event-id': eventId });
  expect(resumed.status).toBe(200);
  const reader = resumed.body!.getReader();
  await resolve(at, wait, { decision: 'allow' });
  let text = '';
  while (!text.includes('"id":77')) text += new TextDecoder().decode((await reader.read()).value);
  expect(text).toContain('{\\"n\\":9}');
  await reader.cancel();
  expect(fixture.server.seen).toHaveLength(1);
});

test('what a tool says of its progress is passed on as numbers, and its words are not', async () => {
  const at = await sceneOf(fixture, []);
  fixture.server.behave(async (_, tell) => {
    for (const progress of [1, 2, 3]) {
      await tell(progress, 3);
      await sleep(30);
    }
    return { content: [] };
  });
  const told: object[] = [];
  await call(await connect(at), 'echo', {}, { onprogress: (one: object) => told.push(one) });
  expect(told).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3 })));
});
