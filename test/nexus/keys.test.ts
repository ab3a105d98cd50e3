import type { Client } from './client';
import { startNexus, stopNexus, type Nexus } from './fixture';

let nexus: Nexus;
let admin: Client;

beforeAll(async () => {
  nexus = await startNexus();
  admin = await nexus.key(['admin']);
});
afterAll(stopNexus);

interface Key {
  readonly id: string;
  readonly token?: string;
  readonly owner: string;
}

const make = (wanted: unknown) => admin.post<Key>('/v1/keys', wanted);

test('a token is told once, works at once, and is stored nowhere', async () => {
  const { status, headers, body } = await make({ owner: 'ann', scopes: ['read', 'read'] });
  expect(status).toBe(201);
  expect(headers.get('Location')).toBe(`/v1/keys/${body.id}`);
  expect(body.token).toMatch(new RegExp(`^pk_${nexus.tenant}_${body.id}_[A-Za-z0-9]{43}$`));
  expect((await nexus.client(body.token).get('/v1/threads')).status).toBe(200);
  const { token, ...shown } = body;
  expect(shown).toMatchObject({ owner: 'ann', scopes: ['read'] });
  expect((await admin.get(`/v1/keys/${body.id}`)).body).toEqual(shown);
  const list = await admin.get<{ items: Key[] }>('/v1/keys');
  expect(list.body.items).toContainEqual(shown);
  expect(JSON.stringify(list.body)).not.toContain(token?.split('_')[3]);
});

test('a revoked key is refused like one that never was', async () => {
  const { body } = await make({ owner: 'bob', scopes: ['read'] });
  expect((await admin.delete(`/v1/keys/${body.id}`)).status).toBe(204);
  const revoked = await nexus.client(body.token).get('/v1/threads');
  const never = await nexus.client(body.token?.replace(body.id, '0'.repeat(16))).get('/v1/threads');
  expect(revoked.status).toBe(401);
  expect(withoutRequestId(revoked.body)).toEqual(withoutRequestId(never.body));
  expect((await admin.delete(`/v1/keys/${body.id}`)).status).toBe(404);
  expect((await admin.get(`/v1/keys/${body.id}`)).status).toBe(404);
});

const withoutRequestId = (body: object) => ({ ...body, requestId: '' });

test('an admin key cannot revoke itself', async () => {
  const { status, body } = await admin.delete(`/v1/keys/${admin.keyId}`);
  expect(status).toBe(409);
  expect(body).toMatchObject({ detail: expect.stringContaining('another admin key') });
  expect((await admin.get('/v1/keys')).status).toBe(200);
});

test.each(['temporal-operator', 'portcullis'])('the owner %s is reserved', async (owner) => {
  const { status, body } = await make({ owner, scopes: ['read'] });
  expect(status).toBe(422);
  expect(body).toMatchObject({ errors: [{ pointer: '/owner' }] });
});

test('a key that makes no sense is refused with every fault', async () => {
  const { status, body } = await make({ owner: 'a b', scopes: ['read', 'fly'], profileIds: [], x: 1 });
  expect(status).toBe(422);
  const { errors } = body as unknown as { errors: { pointer: string }[] };
  expect(errors.map(({ pointer }) => pointer).toSorted()).toEqual([
    '/owner',
    '/profileIds',
    '/scopes/1',
    '/x',
  ]);
  expect((await make({ owner: 'a', scopes: [] })).status).toBe(422);
});

test('a key that is limited to some profiles cannot lift its limit', async () => {
  const limited = await nexus.key(['admin'], { owner: 'limited', profileIds: ['p'] });
  const attempts = await Promise.all([
    limited.post('/v1/keys', { owner: 'x', scopes: ['admin'] }),
    limited.get('/v1/keys'),
    limited.delete(`/v1/keys/${admin.keyId}`),
    limited.put('/v1/settings', {}),
    limited.post('/v1/profiles', { name: 'mine' }),
  ]);
  expect(attempts.map(({ status }) => status)).toEqual(Array(5).fill(403));
});

test('settings are read whole, replaced whole, and refuse what they do not know', async () => {
  const defaults = {
    defaultHooks: 'auto',
    operatorSignal: true,
    auditValues: 'redacted',
    redaction: { fields: [], patterns: [] },
    roleProfiles: {},
    retention: {},
  };
  expect((await admin.get('/v1/settings')).body).toEqual(defaults);
  const wanted = {
    defaultHooks: 'manual',
    operatorSignal: false,
    defaultApprovers: ['ann', 'scope:admin'],
    auditValues: 'none',
    redaction: { fields: ['iban'], patterns: ['[0-9]{16}'] },
    roleProfiles: { forge: 'some-profile' },
    retention: { auditDays: 90, auditEvents: 100_000 },
  };
  expect((await admin.put('/v1/settings', wanted)).body).toEqual(wanted);
  expect((await admin.get('/v1/settings')).body).toEqual(wanted);
  const { status, body } = await admin.put('/v1/settings', { defaultHooks: 'never', retention: 3 });
  expect(status).toBe(422);
  expect(body).toMatchObject({ errors: [{ pointer: '/defaultHooks' }, { pointer: '/retention' }] });
  expect((await admin.put('/v1/settings', {})).body).toEqual(defaults);
});
