import type { Profile } from '../../src/domain/profile';
import type { ThreadView } from '../../src/server/nexus/views/thread';
import type { Client } from './client';
import { startNexus, stopNexus, type Nexus } from './fixture';
import { storeCall } from './parked-call';

let nexus: Nexus;
let caller: Client;
let reader: Client;
let profile: Profile;

beforeEach(async () => {
  nexus = await startNexus();
  caller = await nexus.key(['calls']);
  reader = await nexus.key(['read']);
  const author = await nexus.key(['profiles']);
  profile = (await author.post<Profile>('/v1/profiles', { name: 'p' })).body;
});
afterEach(stopNexus);

const make = async (client = caller, metadata?: object) =>
  (await client.post<ThreadView>('/v1/threads', { profileId: profile.id, metadata })).body;
const stateOf = async (id: string) => (await reader.get<ThreadView>(`/v1/threads/${id}`)).body.state;

interface ThreadPage {
  readonly items: ThreadView[];
  readonly nextCursor?: string;
}

async function everyPage(client: Client, path: string): Promise<ThreadPage[]> {
  const pages: ThreadPage[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const place: string = cursor === '' ? path : `${path}&cursor=${cursor}`;
    const page = await client.get<ThreadPage>(place);
    expect(page.status).toBe(200);
    pages.push(page.body);
    cursor = page.body.nextCursor;
  }
  return pages;
}

test('a thread is made with scope calls, idle, with its metadata as given', async () => {
  const metadata = JSON.parse('{"a":[1,null,{"__proto__":{"b":2}}],"constructor":"c"}') as object;
  const made = await caller.post<ThreadView>('/v1/threads', { profileId: profile.id, metadata });
  expect(made.status).toBe(201);
  expect(made.headers.get('Location')).toBe(`/v1/threads/${made.body.id}`);
  expect(made.body).toMatchObject({ profileId: profile.id, state: 'idle', pendingWaits: [] });
  const { body } = await caller.get<ThreadView>(`/v1/threads/${made.body.id}`);
  expect(JSON.stringify(body.metadata)).toBe(JSON.stringify(metadata));
});

test('metadata that is no object, or is over 16 KiB, is refused at its place', async () => {
  const fits = { text: 'é'.repeat(8_186) };
  expect((await make(caller, fits)).metadata).toEqual(fits);
  for (const metadata of [[], 'x', null, { text: 'é'.repeat(8_187) }]) {
    const { status, body } = await caller.post('/v1/threads', { profileId: profile.id, metadata });
    expect(status).toBe(422);
    expect(body).toMatchObject({ errors: [{ pointer: '/metadata' }] });
  }
});

test('a thread of an unknown profile is refused at /profileId', async () => {
  for (const profileId of ['nothing', 'a:b', '']) {
    const { status, body } = await caller.post('/v1/threads', { profileId });
    expect(status).toBe(422);
    expect(body).toMatchObject({ errors: [{ in: 'body', pointer: '/profileId' }] });
  }
});

test('the state of a thread follows its work: idle, waiting, running, idle, closed', async () => {
  const { id } = await make();
  expect(await stateOf(id)).toBe('idle');
  const call = await storeCall(nexus.store, profile, { threadId: id, tool: 'shell.run' });
  expect(await stateOf(id)).toBe('waiting');
  await call.answer('approver', 'allow');
  expect(await stateOf(id)).toBe('running');
  const second = await storeCall(nexus.store, profile, { threadId: id, tool: 'shell.run' });
  expect(await stateOf(id)).toBe('waiting');
  await second.answer('approver', 'deny');
  expect(await stateOf(id)).toBe('running');
  await nexus.store.threads.close(id, { by: 'x', at: new Date().toISOString() });
  expect(await stateOf(id)).toBe('closed');
});

test('every thread that holds a wait is listed as waiting, and only those', async () => {
  const threads = [await make(), await make(), await make()];
  const [first, , third] = threads;
  const call = await storeCall(nexus.store, profile, { threadId: first?.id ?? '', tool: 'shell.run' });
  await storeCall(nexus.store, profile, { threadId: third?.id ?? '', tool: 'iam.grant' });
  const listed = async () =>
    (await reader.get<ThreadPage>('/v1/threads?state=waiting')).body.items.map(({ id }) => id);
  expect(await listed()).toEqual([first?.id, third?.id]);
  await call.answer('approver', 'deny');
  expect(await listed()).toEqual([third?.id]);
  expect((await reader.get('/v1/threads?state=sleeping')).status).toBe(400);
});

test('pendingWaits show what is judged only to keys that may resolve', async () => {
  const { id } = await make();
  const input = { command: 'ls' };
  await storeCall(nexus.store, profile, { threadId: id, tool: 'shell.run', input });
  const approver = await nexus.key(['waits:resolve']);
  const shown = (await approver.get<ThreadView>(`/v1/threads/${id}`)).body.pendingWaits;
  expect(shown).toMatchObject([{ hookId: 'default:execution', tool: 'shell.run', value: input }]);
  for (const client of [caller, reader]) {
    const [wait] = (await client.get<ThreadView>(`/v1/threads/${id}`)).body.pendingWaits;
    expect(wait).toMatchObject({ hookId: 'default:execution', approvals: [], needed: 1 });
    expect(wait).not.toHaveProperty('value');
  }
});

test('a calling key pages through its own threads and loses none among those of others', async () => {
  const other = await nexus.key(['calls'], { owner: 'other' });
  const mine: string[] = [];
  for (let at = 0; at < 60; at += 1) {
    const { id } = await make(at % 20 === 7 ? caller : other);
    if (at % 20 === 7) mine.push(id);
  }
  const pages = await everyPage(caller, '/v1/threads?limit=2');
  expect(pages.flatMap(({ items }) => items).map(({ id }) => id)).toEqual(mine);
  for (const { items } of pages) expect(items.length).toBeLessThanOrEqual(2);
  expect(pages.at(-1)?.nextCursor).toBeUndefined();
});

test('pages keep their place while threads are made, and a cursor serves its own list only', async () => {
  const ids: string[] = [];
  for (let at = 0; at < 6; at += 1) ids.push((await make()).id);
  const first = (await reader.get<ThreadPage>('/v1/threads?limit=3')).body;
  ids.push((await make()).id);
  const second = (await reader.get<ThreadPage>(`/v1/threads?limit=9&cursor=${first.nextCursor}`)).body;
  expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(ids);
  const mixed = await reader.get(`/v1/threads?state=waiting&cursor=${first.nextCursor}`);
  expect(mixed.status).toBe(400);
});
