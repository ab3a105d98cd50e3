import type { Profile } from '../../src/domain/profile';
import type { Answer, Client } from './client';
import { newTenant, startNexus, stopNexus, type Nexus } from './fixture';
import { storeCall } from './parked-call';

let nexus: Nexus;
let mine: Profile;
let other: Profile;

beforeAll(async () => {
  nexus = await startNexus();
  const author = await nexus.key(['profiles']);
  mine = (await author.post<Profile>('/v1/profiles', { name: 'mine' })).body;
  other = (await author.post<Profile>('/v1/profiles', { name: 'other' })).body;
});
afterAll(stopNexus);

async function threadOf(client: Client, profileId: string): Promise<string> {
  return (await client.post<{ id: string }>('/v1/threads', { profileId })).body.id;
}

interface Listed {
  readonly items: { readonly id: string; readonly threadId: string }[];
}

const told = ({ status, body }: Answer<object>) => ({ status, ...body, requestId: '' });
const NEVER = '01900000-0000-7000-8000-000000000000';

test('without a live key everything but the open routes is the same 401', async () => {
  const { token } = await (
    await newTenant()
  ).apiKeys.create({
    owner: 'stranger',
    scopes: ['admin'],
    createdAt: new Date().toISOString(),
  });
  const unknownKey = `pk_${nexus.tenant}_${'0'.repeat(16)}_${'A'.repeat(43)}`;
  const answers = await Promise.all(
    [undefined, 'nonsense', unknownKey, token].map((text) => nexus.client(text).get('/v1/threads')),
  );
  const [first] = answers;
  for (const answer of answers) {
    expect(answer.status).toBe(401);
    expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer');
    expect(told(answer)).toEqual(first && told(first));
  }
  for (const path of ['/healthz', '/readyz', '/openapi.json']) {
    expect((await nexus.client(undefined).get(path)).status).toBe(200);
  }
});

test('a key without the scope is 403 and is told which would do', async () => {
  const caller = await nexus.key(['calls']);
  for (const path of ['/v1/profiles', '/v1/keys', '/v1/settings', '/v1/waits', '/v1/audit']) {
    expect((await caller.get(path)).status).toBe(403);
  }
  const reader = await nexus.key(['read']);
  const { status, body } = await reader.post('/v1/threads', { profileId: mine.id });
  expect(status).toBe(403);
  expect(body).toMatchObject({ neededScopes: ['calls'] });
  expect((await reader.post('/v1/profiles', { name: 'x' })).status).toBe(403);
});

test('a thread of another owner is the same 404 to a calling key as one that never was', async () => {
  const [ann, bob] = [await nexus.key(['calls'], { owner: 'ann' }), await nexus.key(['calls'])];
  const thread = await threadOf(ann, mine.id);
  const sameOwner = await nexus.key(['calls'], { owner: 'ann' });
  expect((await sameOwner.get(`/v1/threads/${thread}`)).status).toBe(200);
  for (const rest of ['', '/events']) {
    const foreign = await bob.get(`/v1/threads/${thread}${rest}`);
    expect(foreign.status).toBe(404);
    expect(told(foreign)).toEqual(told(await bob.get(`/v1/threads/${NEVER}${rest}`)));
  }
  const listed = await bob.get<Listed>('/v1/threads');
  expect(listed.body.items.map(({ id }) => id)).not.toContain(thread);
});

test.each(['read', 'waits:resolve', 'admin'] as const)(
  'a key with %s sees the threads of all',
  async (scope) => {
    const thread = await threadOf(await nexus.key(['calls']), mine.id);
    const reader = await nexus.key([scope]);
    expect((await reader.get(`/v1/threads/${thread}`)).status).toBe(200);
    expect((await reader.get(`/v1/threads/${thread}/events`)).status).toBe(200);
  },
);

test('beyond its profileIds a key finds neither profiles nor their threads, waits and events', async () => {
  const caller = await nexus.key(['calls']);
  const [inside, outside] = [await threadOf(caller, mine.id), await threadOf(caller, other.id)];
  await storeCall(nexus.store, mine, { threadId: inside, tool: 'shell.run' });
  await storeCall(nexus.store, other, { threadId: outside, tool: 'shell.run' });
  const limited = await nexus.key(['profiles', 'calls', 'read'], {
    owner: 'limited',
    profileIds: [mine.id],
  });

  const foreign = await limited.get(`/v1/profiles/${other.id}`);
  expect(told(foreign)).toEqual(told(await limited.get(`/v1/profiles/${NEVER}`)));
  expect((await limited.patch(`/v1/profiles/${other.id}`, {}, { 'If-Match': '*' })).status).toBe(404);
  expect((await limited.delete(`/v1/profiles/${other.id}/hooks/x`)).status).toBe(404);
  expect((await limited.post(`/v1/profiles/${other.id}/defaults/upgrade`)).status).toBe(404);
  expect((await limited.get(`/v1/threads/${outside}`)).status).toBe(404);
  expect((await limited.get(`/v1/threads/${outside}/events`)).status).toBe(404);
  const refused = await limited.post('/v1/threads', { profileId: other.id });
  expect(told(refused)).toEqual(told(await limited.post('/v1/threads', { profileId: NEVER })));

  const profiles = await limited.get<Listed>('/v1/profiles');
  expect(profiles.body.items.map(({ id }) => id)).toEqual([mine.id]);
  for (const path of ['/v1/threads?limit=200', '/v1/threads?state=waiting']) {
    const ids = (await limited.get<Listed>(path)).body.items.map(({ id }) => id);
    expect(ids).toContain(inside);
    expect(ids).not.toContain(outside);
  }
  const waits = await limited.get<Listed>('/v1/waits');
  expect(waits.body.items.map(({ threadId }) => threadId)).toEqual([inside]);
  const { body } = await limited.get<string>('/v1/audit');
  expect(body).toContain(inside);
  expect(body).not.toContain(outside);
  expect(body).not.toContain(other.id);
});

test('an id that would name something else in the store is a 404', async () => {
  const admin = await nexus.key(['admin']);
  const thread = await threadOf(admin, mine.id);
  for (const id of [`${thread}:events`, `${thread}%3Awaits`, '*', '%2E%2E', 'a'.repeat(500)]) {
    expect((await admin.get(`/v1/threads/${id}`)).status).toBe(404);
    expect((await admin.get(`/v1/profiles/${id}`)).status).toBe(404);
    expect((await admin.get(`/v1/keys/${id}`)).status).toBe(404);
  }
});
