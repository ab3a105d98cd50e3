import type { Profile } from '../../src/domain/profile';
import type { WaitView } from '../../src/server/nexus/views/wait';
import type { Client } from './client';
import { follow, type EventStream } from './event-stream';
import { startNexus, stopNexus, type Nexus } from './fixture';
import { storeCall } from './parked-call';

let nexus: Nexus;
let approver: Client;
let reader: Client;
let profile: Profile;
let threadId: string;
const streams: EventStream[] = [];

beforeEach(async () => {
  nexus = await startNexus();
  approver = await nexus.key(['waits:resolve']);
  reader = await nexus.key(['read']);
  profile = await made({
    hooks: [
      { id: 'one', point: 'before_tool_call', match: { tools: ['one'] }, processor: { type: 'client' } },
      {
        id: 'two',
        point: 'before_tool_call',
        match: { tools: ['two'] },
        processor: { type: 'client', title: 'Really?', minApprovals: 2 },
      },
    ],
  });
  threadId = await threadOf(profile);
});
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close();
  await stopNexus();
});

async function made(configuration: unknown): Promise<Profile> {
  const author = await nexus.key(['profiles']);
  return (await author.post<Profile>('/v1/profiles', { name: 'p', configuration })).body;
}

async function threadOf({ id }: Profile): Promise<string> {
  const caller = await nexus.key(['calls']);
  return (await caller.post<{ id: string }>('/v1/threads', { profileId: id })).body.id;
}

const park = (tool: string, input = {}) => storeCall(nexus.store, profile, { threadId, tool, input });

async function open(client: Client): Promise<EventStream> {
  const stream = await follow(client, '/v1/waits');
  streams.push(stream);
  return stream;
}

interface WaitPage {
  readonly items: WaitView[];
  readonly nextCursor?: string;
}

test('an open wait is shown whole to who may resolve it, and without its value to who may only read', async () => {
  const { callId, waitId } = await park('two', { n: 1 });
  const { body } = await approver.get<WaitPage>('/v1/waits');
  const [wait] = body.items;
  expect(wait).toMatchObject({
    id: waitId,
    threadId,
    callId,
    hookId: 'two',
    index: 1,
    point: 'before_tool_call',
    kind: 'client',
    tool: 'two',
    value: { n: 1 },
    title: 'Really?',
    approvals: [],
    needed: 2,
  });
  expect(wait?.subjectDigest).toMatch(/^[0-9a-f]{64}$/);
  expect(Date.parse(wait?.expiresAt ?? '') - Date.parse(wait?.createdAt ?? '')).toBe(86_400_000);
  const { value: _, ...rest } = wait ?? {};
  expect((await reader.get<WaitPage>('/v1/waits')).body.items).toEqual([rest]);
});

test('votes are listed by owner, and a resolved wait is gone from every list', async () => {
  const call = await park('two');
  await call.answer('ann', 'allow');
  expect((await reader.get<WaitPage>('/v1/waits')).body.items).toMatchObject([{ approvals: ['ann'] }]);
  await call.answer('bob', 'allow');
  expect((await reader.get<WaitPage>('/v1/waits')).body.items).toEqual([]);
});

test('pages of waits hold each open wait once, oldest first', async () => {
  const ids: string[] = [];
  for (let at = 0; at < 5; at += 1) ids.push((await park('one')).waitId);
  const first = (await reader.get<WaitPage>('/v1/waits?limit=2')).body;
  const rest = (await reader.get<WaitPage>(`/v1/waits?limit=200&cursor=${first.nextCursor}`)).body;
  expect([...first.items, ...rest.items].map(({ id }) => id)).toEqual(ids);
  expect(rest.nextCursor).toBeUndefined();
});

test('a stream sends the open waits, says when these are out, and then every change', async () => {
  const before = await park('one');
  const stream = await open(approver);
  expect(await stream.take(2)).toMatchObject([
    { event: 'wait', data: { id: before.waitId, value: {} } },
    { event: 'listed' },
  ]);
  const call = await park('two', { n: 2 });
  expect(await stream.take(1)).toMatchObject([
    { event: 'wait', data: { id: call.waitId, value: { n: 2 }, approvals: [] } },
  ]);
  await call.answer('ann', 'allow');
  expect(await stream.take(1)).toMatchObject([
    { event: 'wait', data: { id: call.waitId, approvals: ['ann'] } },
  ]);
  await call.answer('bob', 'allow');
  expect(await stream.take(1)).toMatchObject([
    { event: 'wait_closed', data: { id: call.waitId, outcome: 'answered', decision: 'allow' } },
  ]);
  await before.answer('ann', 'deny');
  expect(await stream.take(1)).toMatchObject([
    { event: 'wait_closed', data: { id: before.waitId, threadId, decision: 'deny' } },
  ]);
});

test('a stream shows values only to who may resolve, and only the profiles of its key', async () => {
  const other = await made(undefined);
  const otherThread = await threadOf(other);
  const limited = await nexus.key(['read'], { owner: 'limited', profileIds: [profile.id] });
  const stream = await open(limited);
  await stream.take(1);
  const hidden = await storeCall(nexus.store, other, { threadId: otherThread, tool: 'shell.run' });
  await hidden.answer('ann', 'deny');
  const { waitId } = await park('one', { secret: 1 });
  const [event] = await stream.take(1);
  expect(event).toMatchObject({ event: 'wait', data: { id: waitId } });
  expect(event?.data).not.toHaveProperty('value');
});
