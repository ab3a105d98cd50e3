import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { compactVerify, decodeProtectedHeader } from 'jose';
import { secretBytes } from '../../src/coder/token';
import { Api } from '../support/api';
import { AUDIENCE, SECRET, type Spoiled } from './fixture';
import {
  BUDGET_MS,
  fakes,
  lastEvent,
  nexusThat,
  OLD_SECRET,
  realTenant,
  send,
  tenantAt,
  useManager,
  world,
  type Tenant,
} from './manager-fixture';

useManager();

test('an event goes through both hops, and its answer comes back signed with the secret that verified it', async () => {
  const { workspace } = await realTenant([{ id: 'person', tools: ['deploy'] }]);
  const free = await send(workspace);
  expect([free.status, free.text]).toEqual([200, '{}']);
  const { payload } = await compactVerify(free.signature ?? '', secretBytes(SECRET));
  expect(JSON.parse(new TextDecoder().decode(payload))).toMatchObject({
    aud: AUDIENCE,
    jti: free.dispatchId,
  });
  const old = await send(workspace, { secret: OLD_SECRET });
  await compactVerify(old.signature ?? '', secretBytes(OLD_SECRET));
  const parked = await send(workspace, { data: { tool_use_id: 'x', tool_name: 'deploy', tool_input: {} } });
  expect(JSON.parse(parked.text).permission.reason).toMatch(/waits for Allow deploy\?/);
  expect(parked.ms).toBeLessThan(10 * BUDGET_MS);
  expect(await lastEvent()).toMatchObject({ tenant: world.stack.tenant, outcome: 'answered', status: 200 });
});

test('what Nexus gets is the same bytes, under a token of the tenant alone, with what Manager knows', async () => {
  let seen: { headers: NodeJS.Dict<string | string[]>; body: string } | undefined;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      seen = { headers: request.headers, body: Buffer.concat(chunks).toString() };
      response.end('{}');
    });
  });
  fakes.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tenant = await tenantAt(url);
  const sent = await send(tenant.workspace, { body: (text) => JSON.stringify(JSON.parse(text), null, 2) });
  expect(sent.status).toBe(200);
  expect(seen?.body).toContain('\n  "meta"');
  const token = String(seen?.headers['authorization']).replace('Bearer ', '');
  expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', typ: 'JWT', kid: `${tenant.id}.1` });
  const { payload } = await compactVerify(token, secretBytes(tenant.secret));
  expect(JSON.parse(new TextDecoder().decode(payload))).toMatchObject({
    iss: 'manager',
    aud: `${url}/experimental/hooks/chat`,
    sub: `coder:chat:${sent.chatId}`,
    jti: sent.dispatchId,
    workspace: tenant.workspace,
    role: 'forge',
    ticket: 'T-1',
    deadline: expect.any(Number),
  });
  expect(JSON.stringify(seen)).not.toContain(SECRET);
});

const DENIED = { permission: { decision: 'deny', reason: expect.stringMatching(/Try again/) } };

test.each<[string, string, RequestListener | 'down']>([
  ['is down', 'not_delivered', 'down'],
  ['is too slow', 'not_delivered', () => undefined],
  ['breaks the connection', 'not_delivered', (_, response) => void response.destroy()],
  ['answers 500', 'not_delivered', (_, response) => void response.writeHead(500).end('{}')],
  [
    'answers with a redirect',
    'not_delivered',
    (_, response) => void response.writeHead(307, { location: '/' }).end(),
  ],
  ['does not take the key', 'alarm', (_, response) => void response.writeHead(401).end()],
  ['forbids it', 'alarm', (_, response) => void response.writeHead(403).end()],
  ['answers HTML', 'invalid_answer', (_, response) => void response.end('<html>')],
  ['answers with an unknown member', 'invalid_answer', (_, response) => void response.end('{"ok":true}')],
  [
    'allows without a rewrite',
    'invalid_answer',
    (_, response) => void response.end('{"permission":{"decision":"allow"}}'),
  ],
  ['answers too much', 'invalid_answer', (_, response) => void response.end(' '.repeat(1_048_577))],
])(
  'when Nexus %s, a tool is denied and the other events pass, within the budget',
  async (_what, outcome, how) => {
    const url = how === 'down' ? 'http://127.0.0.1:9' : await nexusThat(how);
    const { workspace } = await tenantAt(url);
    const tool = await send(workspace);
    expect([tool.status, JSON.parse(tool.text)]).toEqual([200, DENIED]);
    expect(await lastEvent()).toMatchObject({ outcome, status: 200, dispatchId: tool.dispatchId });
    await compactVerify(tool.signature ?? '', secretBytes(SECRET));
    const prompt = await send(workspace, { type: 'user_prompt_submit', data: { prompt: 'x' } });
    expect(JSON.parse(prompt.text)).toEqual(DENIED);
    // An unknown member is none for `stop` either; its answer is then no objection.
    const stop = await send(workspace, { type: 'stop', data: {} });
    expect([stop.status, stop.text]).toEqual([200, '{}']);
  },
);

test('an event is refused, audited and not relayed unless exactly one tenant has it', async () => {
  let asked = 0;
  const url = await nexusThat((_, response) => {
    asked += 1;
    response.end('{}');
  });
  const [one, two] = [await tenantAt(url), await tenantAt(url)];
  const ownerId = randomUUID();
  await world.operator.put(`/api/v1/tenants/${one.id}/workspaces/${one.workspace}`, {
    role: 'forge',
    ownerId,
  });
  const chat_id = randomUUID();
  expect((await send(one.workspace, { meta: { chat_id, owner_id: ownerId } })).status).toBe(200);
  expect((await send(two.workspace)).status).toBe(200);
  expect(asked).toBe(2);

  const cases: [string, number, Promise<{ status: number }>][] = [
    ['an unknown workspace', 404, send(randomUUID())],
    [
      'an unknown workspace of a known chat',
      404,
      send(randomUUID(), { meta: { chat_id, owner_id: ownerId } }),
    ],
    ['no workspace and an unknown chat', 404, send(undefined)],
    ['another owner', 409, send(one.workspace)],
    ['another owner of a known chat', 409, send(undefined, { meta: { chat_id } })],
    ['a root of another tenant', 409, send(two.workspace, { meta: { root_chat_id: chat_id } })],
  ];
  for (const [what, status, sending] of cases) expect([what, (await sending).status]).toEqual([what, status]);
  expect(asked).toBe(2);
  expect((await world.store.lastEvents(6)).map(({ event }) => event.outcome)).toEqual(
    Array(6).fill('refused'),
  );

  expect((await send(undefined, { meta: { chat_id, owner_id: ownerId } })).status).toBe(200);
  const child = { chat_id: randomUUID(), owner_id: ownerId, parent_chat_id: chat_id, root_chat_id: chat_id };
  expect((await send(undefined, { meta: child })).status).toBe(200);
  expect(asked).toBe(4);

  const tenant = `/api/v1/tenants/${two.id}`;
  const patch = (body: object) => world.operator.send('PATCH', tenant, body);
  await patch({ state: 'paused' });
  expect((await send(two.workspace)).status).toBe(410);
  await patch({ state: 'active' });
  expect((await send(two.workspace)).status).toBe(200);
  expect((await world.operator.delete(tenant)).status).toBe(204);
  expect((await send(two.workspace)).status).toBe(410);
  expect(asked).toBe(5);
});

test('a workspace is one tenant’s until that one gives it up', async () => {
  const [one, two] = [await tenantAt('http://127.0.0.1:9'), await tenantAt('http://127.0.0.1:9')];
  const path = (tenant: Tenant) => `/api/v1/tenants/${tenant.id}/workspaces/${one.workspace}`;
  expect((await world.operator.put(path(two), { role: 'forge' })).status).toBe(409);
  expect((await world.operator.delete(path(two))).status).toBe(404);
  expect((await world.operator.delete(path(one))).status).toBe(204);
  expect((await world.operator.put(path(two), { role: 'forge' })).status).toBe(204);
});

test('owners whose chats are their own are answered with no objection, and nobody else is', async () => {
  const owner_id = randomUUID();
  await world.operator.put('/api/v1/unmanaged-owners', { owners: [owner_id] });
  const own = await send(randomUUID(), { meta: { owner_id } });
  expect([own.status, own.text]).toEqual([200, '{}']);
  expect(await lastEvent()).toMatchObject({ outcome: 'unmanaged', ownerId: owner_id });
  expect((await send(randomUUID())).status).toBe(404);
  await world.operator.put('/api/v1/unmanaged-owners', { owners: [] });
  expect((await send(randomUUID(), { meta: { owner_id } })).status).toBe(404);
});

test.each<[string, number, Spoiled]>([
  ['no token', 401, { authorization: () => undefined }],
  ['a lower-case bearer', 401, { authorization: (token) => `bearer ${token}` }],
  ['another secret', 401, { secret: 'a-secret-that-nobody-has-configured-anywhere' }],
  ['HS384', 401, { header: { alg: 'HS384', typ: 'JWT' } }],
  ['an audience array', 401, { claims: { aud: [AUDIENCE] } }],
  ['a changed byte', 400, { sent: (text) => text.replace('execute', 'executf') }],
  ['another audience', 400, { claims: { aud: `${AUDIENCE}/` } }],
  ['another schema version', 400, { meta: { schema_version: 2 } }],
  ['more than 10 MiB', 413, { sent: () => 'x'.repeat(10 * 1024 * 1024 + 1) }],
])('a request with %s is refused with %i, unsigned and audited', async (_what, status, spoiled) => {
  const { workspace } = await tenantAt('http://127.0.0.1:9');
  const answer = await send(workspace, spoiled);
  expect([answer.status, answer.signature]).toEqual([status, null]);
  expect(await lastEvent()).toMatchObject({ outcome: 'refused', status });
  expect(answer.text).not.toContain(SECRET);
});

test('only an operator manages tenants, and a name is used once', async () => {
  const { id } = await tenantAt('http://127.0.0.1:9');
  expect((await world.operator.post('/api/v1/tenants', { id, nexusUrl: 'http://127.0.0.1:9' })).status).toBe(
    409,
  );
  expect((await new Api(world.manager.url, 'nonsense').get('/api/v1/tenants')).status).toBe(401);
  const bad = await world.operator.post('/api/v1/tenants', { id: 'A B', nexusUrl: 'nowhere' });
  expect([bad.status, bad.body.errors.map(({ pointer }: { pointer: string }) => pointer)]).toEqual([
    422,
    ['/id', '/nexusUrl'],
  ]);
});
