import { setTimeout as sleep } from 'node:timers/promises';
import { said } from '../support/mcp-server';
import { call, callMeta, connect, gatewayFixture, resolve, sceneOf, textOf, waitOf } from './gateway-fixture';

const fixture = gatewayFixture();

test('a client is offered the tools that the service runs, and no others, with their schemas', async () => {
  const at = await sceneOf(fixture, [], {
    tools: [
      { kind: 'caller', name: 'mine' },
      { kind: 'http', name: 'a.http', description: 'd', method: 'POST', url: fixture.http.url },
      {
        kind: 'http',
        name: 'of-texts',
        method: 'POST',
        url: fixture.http.url,
        inputSchema: { type: 'string' },
      },
      { kind: 'mcp', name: 'remote', url: fixture.server.url, prefix: 'far.' },
    ],
  });
  const client = await connect(at);
  expect(client.getServerVersion()).toEqual({ name: 'portcullis', version: '0.0.0' });
  const { tools } = await client.listTools();
  expect(tools).toEqual([
    { name: 'a.http', description: 'd', inputSchema: { type: 'object' } },
    ...['echo', 'pay', 'drop'].map((name) => ({ name: `far.${name}`, inputSchema: { type: 'object' } })),
  ]);
});

test('a free tool answers at once with what its server gave', async () => {
  const at = await sceneOf(fixture);
  const image = { type: 'image', data: 'AP8B', mimeType: 'image/png' };
  fixture.server.behave(() => ({ content: [image], structuredContent: { a: [null] } }));
  const result = await call(await connect(at), 'echo', { x: 1 });
  expect(result.content).toEqual([image]);
  expect(result.structuredContent).toEqual({ a: [null] });
  expect(callMeta(result)).toMatchObject({ status: 'completed', executed: true });
});

test('a denial is a result that says so, and the session goes on', async () => {
  const at = await sceneOf(fixture);
  const client = await connect(at);
  const denied = await call(client, 'drop');
  expect(denied.isError).toBe(true);
  expect(textOf(denied)).toBe(
    'The permissions of this agent deny this call (no-drop). The tool has not run. never',
  );
  expect(callMeta(denied)).toMatchObject({ status: 'denied', denial: { by: 'permission', executed: false } });
  expect((await call(client, 'echo')).isError).toBeUndefined();
  expect(fixture.server.seen.map(({ name }) => name)).toEqual(['echo']);
});

test('a tool that is not there is an error of the protocol, and a failing one is a result', async () => {
  const at = await sceneOf(fixture);
  const client = await connect(at);
  await expect(call(client, 'constructor')).rejects.toMatchObject({ code: -32602 });
  fixture.server.behave(() => ({ ...said('no such file'), isError: true }));
  expect(await call(client, 'echo')).toMatchObject({ ...said('no such file'), isError: true });
  fixture.server.behave(() => {
    throw new Error('inside');
  });
  const failed = await call(client, 'echo');
  expect([failed.isError, callMeta(failed).executed]).toEqual([true, 'unknown']);
});

test('a parked call sends progress until it is resolved, and then its result', async () => {
  const at = await sceneOf(fixture);
  const client = await connect(at);
  const told: { progress: number; message?: string | undefined }[] = [];
  const result = call(client, 'pay', { n: 1 }, { onprogress: (one: never) => told.push(one) });
  const [wait] = await waitOf(at);
  await sleep(1_500);
  await resolve(at, wait, { decision: 'allow', updatedInput: { n: 2 } });
  expect(textOf(await result)).toBe('{"n":2}');
  expect(told.length).toBeGreaterThan(0);
  expect(told[0]?.message).toBe('Waiting for an answer: Allow pay?');
  expect(fixture.server.seen.map(({ input }) => input)).toEqual([{ n: 2 }]);
});

test('a call that is undecided when the time is over is pending; the same call later gets the decision and runs once', async () => {
  const at = await sceneOf(fixture);
  const client = await connect(at, `?wait=0&thread=${at.threadId}`);
  const pending = await call(client, 'pay', { n: 1 });
  expect([pending.isError, callMeta(pending).denial.by, callMeta(pending).denial.executed]).toEqual([
    true,
    'pending',
    false,
  ]);
  const [wait] = await waitOf(at);
  await resolve(at, wait, { decision: 'allow' });
  expect(fixture.server.seen).toHaveLength(0);
  const done = await call(client, 'pay', { n: 1 });
  expect(textOf(done)).toBe('{"n":1}');
  expect(callMeta(done).id).toBe(callMeta(pending).id);
  // The decision is used up: the next one is a call of its own.
  const other = await call(client, 'pay', { n: 1 });
  expect(callMeta(other).denial.by).toBe('pending');
  expect(callMeta(other).id).not.toBe(callMeta(done).id);
  expect(fixture.server.seen).toHaveLength(1);
});

test('a result that waits for a person is pending and says that the tool has run; the same call gets it without a second run', async () => {
  const at = await sceneOf(fixture, [{ id: 'after', point: 'after_tool_call', tools: ['echo'] }]);
  const client = await connect(at, `?wait=1&thread=${at.threadId}`);
  const pending = await call(client, 'echo', { n: 1 });
  expect(callMeta(pending).denial).toMatchObject({ by: 'pending', executed: true });
  expect(textOf(pending)).toMatch(/has run/);
  const [wait] = await waitOf(at);
  await resolve(at, wait, { decision: 'allow' });
  const done = await call(client, 'echo', { n: 1 });
  expect(textOf(done)).toBe('{"n":1}');
  expect(fixture.server.seen).toHaveLength(1);
});

test('a call that the client cancels is given up, and its wait is gone', async () => {
  const at = await sceneOf(fixture);
  const client = await connect(at);
  const cancel = new AbortController();
  const result = call(client, 'pay', {}, { signal: cancel.signal });
  const [wait] = await waitOf(at);
  cancel.abort('not any more');
  await expect(result).rejects.toThrow();
  for (;;) {
    const { body } = await at.approver.get(`/v1/threads/${wait.threadId}/tool-calls/${wait.callId}`);
    if (body.status === 'cancelled') break;
    await sleep(20);
  }
  expect(
    (await at.approver.get('/v1/waits')).body.items.filter((w: { id: string }) => w.id === wait.id),
  ).toEqual([]);
  expect(fixture.server.seen).toHaveLength(0);
});

test('a client whose connection ends has not cancelled: the call goes on, and can be asked for again', async () => {
  const at = await sceneOf(fixture);
  const first = await connect(at);
  const lost = call(first, 'pay', { n: 5 }).catch(() => undefined);
  const [wait] = await waitOf(at);
  await first.close();
  await lost;
  await sleep(300);
  const { body } = await at.approver.get(`/v1/threads/${wait.threadId}/tool-calls/${wait.callId}`);
  expect(body.status).toBe('waiting');
  await resolve(at, wait, { decision: 'deny' });
});

test('ten parallel calls of one session, free, parked and denied: the free ones return at once, each gets its own', async () => {
  const at = await sceneOf(fixture);
  const client = await connect(at);
  const order: string[] = [];
  const made = Array.from({ length: 10 }, (_, n) => {
    const name = ['echo', 'pay', 'drop', 'echo'][n % 4] ?? 'echo';
    return call(client, name, { n }).then((result) => {
      order.push(name);
      return { name, n, result };
    });
  });
  const waits = await waitOf(at, 3);
  for (let left = 7; order.length < left;) await sleep(10);
  expect(order).not.toContain('pay');
  for (const wait of waits) await resolve(at, wait, { decision: 'allow' });
  for (const { name, n, result } of await Promise.all(made)) {
    if (name === 'drop') expect(callMeta(result).denial.by).toBe('permission');
    else expect(textOf(result)).toBe(JSON.stringify({ n }));
  }
  expect(fixture.server.seen).toHaveLength(8);
});

test('an HTTP tool gives its JSON as text and structure, its bytes as what they are', async () => {
  const tools = [{ kind: 'http', name: 'get', method: 'GET', url: `${fixture.http.url}/x` }];
  const at = await sceneOf(fixture, [], { tools });
  const client = await connect(at);
  expect(await call(client, 'get')).toMatchObject({
    content: [{ type: 'text', text: '{"ok":true}' }],
    structuredContent: { ok: true },
  });
  for (const [type, body, content] of [
    ['text/plain', 'hello', { type: 'text', text: 'hello' }],
    ['image/png', Buffer.from([0x89, 0xff]), { type: 'image', data: 'if8=', mimeType: 'image/png' }],
    [
      'application/pdf',
      Buffer.from([0xff]),
      { type: 'resource', resource: { uri: 'portcullis:output', blob: '/w==', mimeType: 'application/pdf' } },
    ],
    ['application/json', 'null', { type: 'text', text: 'null' }],
    ['text/plain', '', { type: 'text', text: '' }],
  ] as const) {
    fixture.http.behave((_, response) => {
      response.writeHead(200, { 'content-type': type });
      response.end(body);
      return undefined;
    });
    const result = await call(client, 'get');
    expect([result.content, result.structuredContent, result.isError]).toEqual([
      [content],
      undefined,
      undefined,
    ]);
  }
});
