import { randomUUID } from 'node:crypto';
import { AUDIENCE } from './fixture';
import { lastEvent, OLD_SECRET, realTenant, send, useManager, world } from './manager-fixture';
import { requestTable } from './request-table';

useManager();

let at: Awaited<ReturnType<typeof realTenant>>;
const answered = new Set<string>();

beforeAll(async () => {
  at = await realTenant();
});

/** The others are in requests.test.ts. */
const rows = requestTable({
  now: Math.floor(Date.now() / 1_000),
  audience: AUDIENCE,
  secondSecret: OLD_SECRET,
}).filter(([, , , given]) => given === undefined);

/** Manager knows by then that the event is genuine, and not whose it is. */
const OWN: Readonly<Record<string, number>> = { 'no workspace': 404 };

test('the table has at least sixty rows', () => {
  expect(rows.length).toBeGreaterThanOrEqual(60);
});

for (const [what, verified, spoiled] of rows) {
  const status = OWN[what] ?? verified;
  test(`${what}: ${status} at Manager, which notes it`, async () => {
    const answer = await send(at.workspace, spoiled);
    expect([what, answer.status]).toEqual([what, status]);
    expect(answer.signature === null).toBe(status !== 200);
    const outcome = status === 200 ? 'answered' : 'refused';
    expect(await lastEvent()).toMatchObject({ outcome, status });
    if (status === 200) answered.add(answer.dispatchId.toLowerCase());
  });
}

test('a dispatch that comes again, also at once, is noted each time and is one event at Nexus', async () => {
  const meta = { dispatch_id: randomUUID(), chat_id: randomUUID() };
  const texts = await Promise.all([1, 2, 3].map(async () => (await send(at.workspace, { meta })).status));
  expect(texts).toEqual([200, 200, 200]);
  const noted = (await world.store.lastEvents(3)).map(({ event }) => event.dispatchId);
  expect(noted).toEqual(Array(3).fill(meta.dispatch_id));
  answered.add(meta.dispatch_id);
});

test('Nexus has one event of each dispatch that was answered, and none of those that were refused', async () => {
  const response = await fetch(`${world.stack.nexus.url}/v1/audit`, {
    headers: { authorization: `Bearer ${at.scene.approver.token}` },
  });
  const seen = (await response.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; data: { dispatchId: string } })
    .filter(({ type }) => type === 'lifecycle_event')
    .map(({ data }) => data.dispatchId);
  expect(seen.sort()).toEqual([...answered].sort());
});
