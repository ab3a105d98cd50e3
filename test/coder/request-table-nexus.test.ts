import { Scene } from '../support/scene';
import { HOOK_AUDIENCE, startStack, type Stack } from '../support/stack';
import { Chat, HOOK_SECRET } from './chat';
import { signed, type Spoiled } from './fixture';
import { requestTable, type RequestRow } from './request-table';

let stack: Stack;
let scene: Scene;

beforeAll(async () => {
  stack = await startStack();
  scene = await Scene.set(stack, []);
  const { body } = await scene.admin.get('/v1/settings');
  await scene.admin.put('/v1/settings', { ...body, roleProfiles: { forge: scene.profileId } });
  await scene.admin.put('/v1/hook-keys/1', { secret: HOOK_SECRET });
});
afterAll(async () => {
  await stack.stop();
});

const without = (claim: string): Spoiled => ({ claims: { [claim]: undefined } });

/** What only the relayed event has. */
const OWN: RequestRow[] = [
  ['no role', 401, without('role')],
  ['a role that is none', 401, { claims: { role: 'a b' } }],
  ['no deadline', 401, without('deadline')],
  ['a deadline as a text', 401, { claims: { deadline: '1' } }],
  ['a ticket that is none', 401, { claims: { ticket: '../1' } }],
  ['more than 10 MiB', 413, { sent: () => 'x'.repeat(10 * 1024 * 1024 + 1) }],
];

/** The key is what the key id says, and nothing else is tried. */
const OTHERWISE: Readonly<Record<string, number>> = { 'the second secret': 401, 'a key id': 401 };

const now = Math.floor(Date.now() / 1_000);
const rows = [
  ...requestTable({
    now,
    audience: HOOK_AUDIENCE,
    secondSecret: 'a-secret-that-this-tenant-does-not-have-xx',
  })
    .filter(([, , , given]) => given === undefined)
    .map(([what, status, spoiled]): RequestRow => [what, OTHERWISE[what] ?? status, spoiled]),
  ...OWN,
];

async function ask(spoiled: Spoiled) {
  const { chatId, ownerId, workspaceId } = new Chat(stack);
  const at = Math.floor(Date.now() / 1_000);
  const { authorization, bytes, dispatchId } = await signed({
    ...spoiled,
    secret: spoiled.secret ?? HOOK_SECRET,
    meta: { chat_id: chatId, owner_id: ownerId, workspace_id: workspaceId, ...spoiled.meta },
    header: { kid: `${stack.tenant}.1`, ...(spoiled.header ?? { alg: 'HS256', typ: 'JWT' }) },
    claims: {
      ...{ iss: 'manager', aud: HOOK_AUDIENCE, iat: at, nbf: at - 30, exp: at + 32 },
      ...{ workspace: workspaceId, role: 'forge', deadline: Date.now() + 5_000 },
      ...spoiled.claims,
    },
  });
  const response = await fetch(`${stack.nexus.url}/experimental/hooks/chat`, {
    method: 'POST',
    headers: authorization === undefined ? {} : { authorization },
    body: bytes,
  });
  const jti = spoiled.claims?.['jti'];
  return { response, dispatchId: (typeof jti === 'string' ? jti : dispatchId).toLowerCase() };
}

async function auditOf(dispatchId: string) {
  const response = await fetch(`${stack.nexus.url}/v1/audit`, {
    headers: { authorization: `Bearer ${scene.approver.token}` },
  });
  return (await response.text())
    .split('\n')
    .filter((line) => line.includes('lifecycle_event'))
    .map((line) => (JSON.parse(line) as { data: { dispatchId: string; decision: string } }).data)
    .filter((data) => data.dispatchId === dispatchId);
}

test('the table has at least sixty rows', () => {
  expect(rows.length).toBeGreaterThanOrEqual(60);
});

for (const [what, status, spoiled] of rows) {
  test(`${what}: ${status} at Nexus, and the audit says so if the tenant's key has signed it`, async () => {
    const { response, dispatchId } = await ask(spoiled);
    expect([what, response.status]).toEqual([what, status]);
    expect(response.headers.has('coder-hook-signature')).toBe(status === 200);
    const events = await auditOf(dispatchId);
    const isSigned = status !== 401 || OWN.some(([own]) => own === what);
    if (!isSigned) {
      expect(events).toEqual([]);
      return;
    }
    expect(events.at(-1)?.decision === 'refused').toBe(status !== 200);
  });
}
