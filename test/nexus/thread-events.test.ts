import type { Profile } from '../../src/domain/profile';
import type { Client } from './client';
import { follow, type EventStream, type ReceivedEvent } from './event-stream';
import { startNexus, stopNexus, type Nexus } from './fixture';
import { storeCall } from './parked-call';

let nexus: Nexus;
let caller: Client;
let profile: Profile;
let threadId: string;
const streams: EventStream[] = [];

beforeEach(async () => {
  nexus = await startNexus();
  caller = await nexus.key(['calls']);
  const author = await nexus.key(['profiles']);
  profile = (await author.post<Profile>('/v1/profiles', { name: 'p' })).body;
  threadId = (await caller.post<{ id: string }>('/v1/threads', { profileId: profile.id })).body.id;
});
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close();
  await stopNexus();
});

async function open(query = '', headers: Record<string, string> = {}): Promise<EventStream> {
  const stream = await follow(caller, `/v1/threads/${threadId}/events${query}`, headers);
  streams.push(stream);
  return stream;
}

/** Two events: the call started and parked. */
const park = () => storeCall(nexus.store, profile, { threadId, tool: 'shell.run' });
const seqsOf = (events: ReceivedEvent[]) => events.map(({ id }) => Number(id));

interface EventPage {
  readonly items: { seq: number; type: string }[];
  readonly nextCursor?: string;
}

test('events are pages of JSON, in order, without gaps', async () => {
  await park();
  const path = `/v1/threads/${threadId}/events`;
  const first = await caller.get<EventPage>(`${path}?limit=2`);
  expect(first.body.items).toMatchObject([
    { seq: 1, type: 'thread_created', data: { profileId: profile.id } },
    { seq: 2, type: 'tool_call_started' },
  ]);
  const rest = await caller.get<EventPage>(`${path}?limit=2&cursor=${first.body.nextCursor}`);
  expect(rest.body.items).toMatchObject([{ seq: 3, type: 'wait_opened' }]);
  expect(rest.body.nextCursor).toBeUndefined();
  expect((await caller.get<EventPage>(`${path}?after=2`)).body.items).toEqual(rest.body.items);
});

test('a stream sends what is stored and then every new event', async () => {
  const stream = await open();
  expect(await stream.take(1)).toMatchObject([{ id: '1', data: { type: 'thread_created', seq: 1 } }]);
  const call = await park();
  expect((await stream.take(2)).map(({ data }) => data)).toMatchObject([
    { type: 'tool_call_started' },
    { type: 'wait_opened' },
  ]);
  await call.answer('approver', 'deny');
  expect((await stream.take(3)).map(({ data }) => data)).toMatchObject([
    { type: 'wait_resolved' },
    { type: 'hook_decision' },
    { type: 'tool_call_finished' },
  ]);
});

test('a stream resumes after Last-Event-ID, or after `after`, and Last-Event-ID goes before', async () => {
  await park();
  const events = await Promise.all([
    open('', { 'Last-Event-ID': '2' }),
    open('?after=2'),
    open('?after=1', { 'Last-Event-ID': '2' }),
  ]);
  for (const stream of events) expect(await stream.take(1)).toMatchObject([{ id: '3' }]);
});

test('a client that reconnects again and again misses no event and gets none twice', async () => {
  const writing = (async () => {
    for (let at = 0; at < 40; at += 1) await park();
  })();
  const seqs: number[] = [];
  while (seqs.length < 81) {
    const stream = await open('', { 'Last-Event-ID': String(seqs.at(-1) ?? 0) });
    seqs.push(...seqsOf(await stream.take(Math.min(7, 81 - seqs.length))));
    stream.close();
  }
  await writing;
  expect(seqs).toEqual(Array.from({ length: 81 }, (_, at) => at + 1));
});

test('a stream ends when its key is revoked, before it sends anything more', async () => {
  const stream = await open();
  await stream.take(1);
  await nexus.store.apiKeys.delete(caller.keyId);
  await park();
  expect(await stream.rest()).toEqual([]);
});

test('JSON is preferred when the client prefers it', async () => {
  const path = `/v1/threads/${threadId}/events`;
  const accept = 'application/json, text/event-stream;q=0.5';
  const { headers } = await caller.get(path, { Accept: accept });
  expect(headers.get('Content-Type')).toMatch(/^application\/json/);
  expect((await caller.get(path, { 'Last-Event-ID': 'x' })).status).toBe(400);
});
