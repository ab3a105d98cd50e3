import { validate as isUuid, version as uuidVersion } from 'uuid';
import type { Profile } from '../../src/domain/profile';
import type { Client } from './client';
import { startNexus, stopNexus, type Nexus } from './fixture';

let nexus: Nexus;
let author: Client;

beforeAll(async () => {
  nexus = await startNexus();
  author = await nexus.key(['profiles']);
});
afterAll(stopNexus);

const hook = (id: string) => ({ id, point: 'before_tool_call', processor: { type: 'client' } });
const made = async (configuration: unknown = { hooks: [] }) =>
  (await author.post<Profile>('/v1/profiles', { name: 'p', configuration })).body;

interface Refusal {
  readonly errors: { pointer: string; detail: string }[];
}

async function faultsOf(configuration: unknown): Promise<string[]> {
  const { status, body } = await author.post<Refusal>('/v1/profiles', { name: 'p', configuration });
  expect(status).toBe(422);
  return body.errors.map(({ pointer }) => pointer);
}

test('a profile is made with its place, its version and a time-ordered id', async () => {
  const { status, headers, body } = await author.post<Profile>('/v1/profiles', { name: ' Ops ' });
  expect(status).toBe(201);
  expect(body).toMatchObject({ name: 'Ops', version: 1, updatedAt: body.createdAt });
  expect(isUuid(body.id) && uuidVersion(body.id)).toBe(7);
  expect(headers.get('Location')).toBe(`/v1/profiles/${body.id}`);
  expect(headers.get('ETag')).toBe('"1"');
  const read = await author.get(`/v1/profiles/${body.id}`);
  expect(read.body).toEqual(body);
  expect(read.headers.get('ETag')).toBe('"1"');
  expect((await author.get(`/v1/profiles/${body.id}`, { 'If-None-Match': '"1"' })).status).toBe(304);
});

test('a change replaces each member that it gives, leaves the others, and makes the next version', async () => {
  const { id } = await made({ hooks: [hook('a')], timeouts: { outputTimeoutMs: 5_000 } });
  const path = `/v1/profiles/${id}`;
  const renamed = await author.patch<Profile>(path, { name: 'q' }, { 'If-Match': '"1"' });
  expect(renamed.status).toBe(200);
  expect(renamed.headers.get('ETag')).toBe('"2"');
  expect(renamed.body).toMatchObject({
    name: 'q',
    version: 2,
    configuration: { hooks: [{ id: 'a' }], timeouts: { outputTimeoutMs: 5_000 } },
  });
  const hooks = { configuration: { hooks: [hook('b')] } };
  const rehooked = await author.patch<Profile>(path, hooks, { 'If-Match': '"2"' });
  expect(rehooked.body).toMatchObject({
    name: 'q',
    version: 3,
    configuration: { hooks: [{ id: 'b' }], timeouts: { outputTimeoutMs: 5_000 } },
  });
});

test('every member of a configuration can be changed alone', async () => {
  const { id } = await made({ hooks: [] });
  const members = {
    permissions: [{ id: 'p', effect: 'deny', tools: ['x'] }],
    unmatchedTools: 'deny',
    tools: [{ kind: 'caller', name: 't' }],
    model: { baseUrl: 'https://models.example.com/v1', name: 'm' },
    instructions: 'Be terse.',
    timeouts: { outputTimeoutMs: 6_000 },
    hooks: [hook('h')],
  };
  for (const [name, value] of Object.entries(members)) {
    const changed = await author.patch<Profile>(
      `/v1/profiles/${id}`,
      { configuration: { [name]: value } },
      { 'If-Match': '*' },
    );
    expect(changed.body.configuration).toMatchObject({ [name]: value });
  }
});

test('a change without If-Match is 428 and with an old ETag 412, and changes nothing', async () => {
  const { id } = await made();
  const path = `/v1/profiles/${id}`;
  expect((await author.patch(path, { name: 'x' })).status).toBe(428);
  expect((await author.delete(path)).status).toBe(428);
  const refused = await author.patch(path, { name: 'x' }, { 'If-Match': '"9"' });
  expect(refused.status).toBe(412);
  expect(refused.headers.get('ETag')).toBe('"1"');
  expect((await author.delete(path, { 'If-Match': '"9"' })).status).toBe(412);
  expect((await author.get<Profile>(path)).body).toMatchObject({ name: 'p', version: 1 });
});

test('of concurrent changes to one version exactly one wins and the others are 412', async () => {
  const { id } = await made();
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      author.patch(`/v1/profiles/${id}`, { name: `n${at}` }, { 'If-Match': '"1"' }),
    ),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(412)]);
  expect((await author.get<Profile>(`/v1/profiles/${id}`)).body.version).toBe(2);
});

test('concurrent changes to any version are all made', async () => {
  const { id } = await made();
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, at) =>
      author.patch(`/v1/profiles/${id}`, { name: `n${at}` }, { 'If-Match': '*' }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
  expect((await author.get<Profile>(`/v1/profiles/${id}`)).body.version).toBe(7);
});

test('a deleted profile is gone from everywhere and takes no threads', async () => {
  const { id } = await made();
  const caller = await nexus.key(['calls']);
  expect((await author.delete(`/v1/profiles/${id}`, { 'If-Match': '"1"' })).status).toBe(204);
  expect((await author.get(`/v1/profiles/${id}`)).status).toBe(404);
  expect((await author.patch(`/v1/profiles/${id}`, {}, { 'If-Match': '*' })).status).toBe(404);
  expect((await caller.post('/v1/threads', { profileId: id })).status).toBe(422);
  const { body } = await author.get<{ items: Profile[] }>('/v1/profiles?limit=200');
  expect(body.items.map((profile) => profile.id)).not.toContain(id);
});

test('the 17th hook is refused, the 16th is not', async () => {
  const hooks = Array.from({ length: 17 }, (_, at) => hook(`h${at}`));
  expect(await faultsOf({ hooks })).toEqual(['/configuration/hooks']);
  expect((await made({ hooks: hooks.slice(1) })).configuration.hooks).toHaveLength(16);
});

test('a profile that does not validate is refused whole with every fault and its pointer', async () => {
  const faults = await faultsOf({
    hooks: [
      { ...hook('a'), point: 'before_lunch' },
      { ...hook('b'), processor: { type: 'oracle' } },
      { ...hook('c'), match: { tools: [] } },
      { ...hook('d'), match: { tools: ['a*b'] } },
      { ...hook('no spaces'), surprise: 1 },
      { ...hook('e'), processor: { type: 'client', asyncTimeoutMs: 86_400_001 } },
    ],
    timeouts: { outputTimeoutMs: 0 },
    permissons: [],
  });
  expect(faults.toSorted()).toEqual([
    '/configuration/hooks/0/point',
    '/configuration/hooks/1/processor/type',
    '/configuration/hooks/2/match/tools',
    '/configuration/hooks/3/match/tools/0',
    '/configuration/hooks/4/id',
    '/configuration/hooks/4/surprise',
    '/configuration/hooks/5/processor/asyncTimeoutMs',
    '/configuration/permissons',
    '/configuration/timeouts/outputTimeoutMs',
  ]);
});

test('duplicate ids are refused where the second stands', async () => {
  expect(await faultsOf({ hooks: [hook('a'), hook('b'), hook('a')] })).toEqual(['/configuration/hooks/2/id']);
});

test('duplicate ids are told together with other faults of the list', async () => {
  const faults = await faultsOf({ hooks: [hook('a'), hook('a'), { ...hook('b'), point: 'x' }] });
  expect(faults.toSorted()).toEqual(['/configuration/hooks/1/id', '/configuration/hooks/2/point']);
});

test('a refused change leaves the profile as it was', async () => {
  const { id } = await made({ hooks: [hook('a')] });
  const patch = { name: 'q', configuration: { hooks: [hook('b'), hook('b')] } };
  const { status } = await author.patch(`/v1/profiles/${id}`, patch, { 'If-Match': '"1"' });
  expect(status).toBe(422);
  expect((await author.get<Profile>(`/v1/profiles/${id}`)).body).toMatchObject({ name: 'p', version: 1 });
});

test('pages of profiles hold each profile once', async () => {
  const own = await startNexus();
  const writer = await own.key(['profiles']);
  const ids = [];
  for (let at = 0; at < 7; at += 1) {
    ids.push((await writer.post<Profile>('/v1/profiles', { name: `p${at}` })).body.id);
  }
  const seen: string[] = [];
  let cursor: string | undefined = '';
  while (cursor !== undefined) {
    const path = pageAfter(cursor);
    const { body } = await writer.get<{ items: Profile[]; nextCursor?: string }>(path);
    seen.push(...body.items.map(({ id }) => id));
    cursor = body.nextCursor;
  }
  expect(seen).toEqual(ids);
  expect((await writer.get('/v1/profiles?cursor=nonsense')).status).toBe(400);
});

function pageAfter(cursor: string): string {
  return `/v1/profiles?limit=3${cursor && `&cursor=${cursor}`}`;
}
