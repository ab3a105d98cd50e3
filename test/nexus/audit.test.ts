import type { Profile } from '../../src/domain/profile';
import type { AuditEntryView } from '../../src/server/nexus/views/event';
import type { Client } from './client';
import { startNexus, stopNexus, type Nexus } from './fixture';
import { storeCall } from './parked-call';

let nexus: Nexus;
let reader: Client;
let profile: Profile;
const threads: string[] = [];

beforeAll(async () => {
  nexus = await startNexus();
  reader = await nexus.key(['read']);
  const author = await nexus.key(['profiles'], { owner: 'author' });
  const caller = await nexus.key(['calls']);
  profile = (await author.post<Profile>('/v1/profiles', { name: 'p' })).body;
  for (let at = 0; at < 2; at += 1) {
    const { body } = await caller.post<{ id: string }>('/v1/threads', { profileId: profile.id });
    threads.push(body.id);
    const call = await storeCall(nexus.store, profile, { threadId: body.id, tool: 'shell.run' });
    await call.answer('ann', 'deny');
  }
});
afterAll(stopNexus);

async function audit(query = ''): Promise<AuditEntryView[]> {
  const { status, headers, body } = await reader.get<string>(`/v1/audit${query}`);
  expect(status).toBe(200);
  expect(headers.get('Content-Type')).toBe('application/x-ndjson');
  const lines = body.split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => JSON.parse(line) as AuditEntryView);
}

test('the audit holds the events of all threads and of the profiles, one per line, in stored order', async () => {
  const entries = await audit();
  const ofCall = [
    'thread_created',
    'tool_call_started',
    'wait_opened',
    'wait_resolved',
    'hook_decision',
    'tool_call_finished',
  ];
  expect(entries.map(({ type }) => type)).toEqual(['profile_changed', ...ofCall, ...ofCall]);
  expect(entries[0]).toMatchObject({ seq: 0, data: { profileId: profile.id, by: 'author' } });
  expect(entries[0]).not.toHaveProperty('threadId');
  expect(entries.slice(1).map(({ threadId }) => threadId)).toEqual(
    threads.flatMap((id) => Array<string>(6).fill(id)),
  );
});

test('an evaluated hook leaves its decision with digests and without the value', async () => {
  const [decision] = await audit(`?type=hook_decision&threadId=${threads[0]}`);
  expect(decision?.data).toMatchObject({
    hookId: 'default:execution',
    index: 3,
    point: 'before_tool_call',
    processor: 'client',
    decision: 'deny',
    resolvedBy: ['ann'],
    profileVersion: 1,
  });
});

test('filters hold together, and a type may be given several times', async () => {
  const some = await audit(`?type=wait_opened&type=wait_resolved&threadId=${threads[1]}`);
  expect(some.map(({ type }) => type)).toEqual(['wait_opened', 'wait_resolved']);
  expect(await audit('?threadId=nothing')).toEqual([]);
  expect((await reader.get('/v1/audit?type=lunch')).status).toBe(400);
  expect((await reader.get('/v1/audit?since=yesterday')).status).toBe(400);
});

test('since is inclusive, until exclusive, and both read any offset', async () => {
  const all = await audit();
  const at = all[6]?.at ?? '';
  const from = await audit(`?since=${at}`);
  const upTo = await audit(`?until=${at}`);
  expect([...upTo, ...from].map(({ cursor }) => cursor).toSorted()).toEqual(
    all.map(({ cursor }) => cursor).toSorted(),
  );
  expect(upTo.every((entry) => entry.at < at)).toBe(true);
  const shifted = new Date(Date.parse(at) + 7_200_000).toISOString().replace('Z', '%2B02:00');
  expect(await audit(`?since=${shifted}`)).toEqual(from);
});

test('the audit goes on after a cursor', async () => {
  const all = await audit();
  expect(await audit(`?after=${all[4]?.cursor}`)).toEqual(all.slice(5));
  expect(await audit(`?after=${all.at(-1)?.cursor}`)).toEqual([]);
  expect((await reader.get('/v1/audit?after=nonsense')).status).toBe(400);
});

test('an audit longer than one read of the store comes whole', async () => {
  const own = await startNexus();
  const key = await own.key(['profiles', 'read']);
  const { id } = (await key.post<Profile>('/v1/profiles', { name: 'p' })).body;
  for (let at = 0; at < 450; at += 1) {
    await own.store.threads.create({
      id: `thread-${at}`,
      profileId: id,
      owner: 'x',
      metadata: {},
      createdAt: new Date().toISOString(),
    });
  }
  const { body } = await key.get<string>('/v1/audit?type=thread_created');
  expect(body.trimEnd().split('\n')).toHaveLength(450);
});
