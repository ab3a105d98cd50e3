import { Scene } from '../support/scene';
import { startStack, type Stack } from '../support/stack';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

async function nothingIsListed(scene: Scene): Promise<void> {
  expect((await scene.thread()).body.pendingWaits).toEqual([]);
  const waiting = await scene.approver.get('/v1/threads?state=waiting&limit=200');
  expect(waiting.body.items.map(({ id }: { id: string }) => id)).not.toContain(scene.threadId);
  const waits = await scene.approver.get('/v1/waits?limit=200');
  expect(
    waits.body.items.filter(({ threadId }: { threadId: string }) => threadId === scene.threadId),
  ).toEqual([]);
}

test('[S] parked work shows up as pendingWaits on the thread and in the list of waiting threads, until it is resolved', async () => {
  const scene = await Scene.set(stack, [{ id: 'gate' }]);
  await nothingIsListed(scene);
  const call = await scene.call('t', 1);
  const waitId = call.body.pendingWaits[0].id;
  expect((await scene.thread()).body).toMatchObject({ state: 'waiting', pendingWaits: [{ id: waitId }] });
  const waiting = await scene.approver.get('/v1/threads?state=waiting&limit=200');
  expect(waiting.body.items.map(({ id }: { id: string }) => id)).toContain(scene.threadId);
  await scene.resolve(waitId, { decision: 'allow' });
  await nothingIsListed(scene);
});

test('a cancelled call clears its wait, is not a denial by anybody, and takes no late answer', async () => {
  const scene = await Scene.set(stack, [{ id: 'gate' }]);
  const call = await scene.call('t', 1);
  const path = `/v1/threads/${scene.threadId}/tool-calls/${call.body.id}`;
  const cancelled = await scene.agent.delete(path);
  expect(cancelled).toMatchObject({
    status: 200,
    body: { status: 'cancelled', denial: { by: 'cancelled', executed: false }, pendingWaits: [] },
  });
  await nothingIsListed(scene);
  expect(await scene.resolve(call.body.pendingWaits[0].id, { decision: 'allow' })).toMatchObject({
    status: 410,
    body: { type: '/problems/wait-cancelled' },
  });
  const [decision] = await scene.eventsOf(call.body.id, 'hook_decision');
  expect(decision?.data).toMatchObject({ outcome: 'cancelled', resolvedBy: ['agent'] });
  expect((await scene.agent.delete(path)).status).toBe(200);
  expect(await scene.eventsOf(call.body.id, 'tool_call_finished')).toHaveLength(1);
});

test('an output after a cancel is kept as evidence by its digest only', async () => {
  const scene = await Scene.set(stack, []);
  const call = await scene.call('t', 1);
  const cancelled = await scene.agent.delete(`/v1/threads/${scene.threadId}/tool-calls/${call.body.id}`);
  expect(cancelled.body.denial).toMatchObject({ by: 'cancelled', executed: 'unknown' });
  const late = await scene.output(call.body.id, { output: 'a secret that came too late' });
  expect(late).toMatchObject({
    status: 409,
    body: { type: '/problems/call-ended', callStatus: 'cancelled' },
  });
  await scene.output(call.body.id, { output: 'a secret that came too late' });
  const events = await scene.eventsOf(call.body.id, 'tool_finished');
  expect(events.map(({ data }) => data.late)).toEqual([true]);
  expect(JSON.stringify([events, (await scene.read(call.body.id)).body])).not.toContain('secret');
});

test('a call that ended otherwise cannot be cancelled', async () => {
  const scene = await Scene.set(stack, []);
  const call = await scene.call('t', 1);
  await scene.output(call.body.id);
  const answer = await scene.agent.delete(`/v1/threads/${scene.threadId}/tool-calls/${call.body.id}`);
  expect(answer).toMatchObject({ status: 409, body: { callStatus: 'completed' } });
});

test('closing a thread cancels its work, clears its waits and takes no new calls', async () => {
  const scene = await Scene.set(stack, [{ id: 'gate', tools: ['gated'] }]);
  const parked = await Promise.all(Array.from({ length: 12 }, (_, n) => scene.call('gated', n)));
  const running = await scene.call('free', 1);
  const done = await scene.call('free', 2);
  await scene.output(done.body.id);
  const closed = await scene.agent.delete(`/v1/threads/${scene.threadId}`);
  expect(closed).toMatchObject({ status: 200, body: { state: 'closed', pendingWaits: [] } });
  for (const call of [...parked, running]) {
    expect((await scene.read(call.body.id)).body).toMatchObject({
      status: 'cancelled',
      denial: { by: 'cancelled', reason: { code: 'thread_closed' } },
    });
  }
  expect((await scene.read(done.body.id)).body.status).toBe('completed');
  await nothingIsListed(scene);
  expect((await scene.call('free', 3)).body.type).toBe('/problems/thread-closed');
  expect((await scene.call('gated', 3)).body.type).toBe('/problems/thread-closed');
  expect((await scene.agent.delete(`/v1/threads/${scene.threadId}`)).status).toBe(200);
  const types = (await scene.events()).map(({ type }) => type);
  expect(types.filter((type) => type === 'thread_closed')).toHaveLength(1);
});

test('calls made while their thread is being closed are cancelled or refused, never left waiting', async () => {
  const scene = await Scene.set(stack, [{ id: 'gate', tools: ['gated'] }]);
  const [closed, ...made] = await Promise.all([
    scene.agent.delete(`/v1/threads/${scene.threadId}`),
    ...Array.from({ length: 20 }, (_, n) => scene.call(n % 2 === 0 ? 'gated' : 'free', n)),
  ]);
  expect([200, 202]).toContain(closed.status);
  for (const call of made) {
    if (call.status === 409) continue;
    const settled = await scene.read(call.body.id, 5);
    expect(settled.body.status).toBe('cancelled');
  }
  await nothingIsListed(scene);
});

test('a person’s deny, a time-out and a cancellation are different outcomes for the caller', async () => {
  const skipping = await startStack({ skipTime: true });
  const scene = await Scene.set(stack, [{ id: 'gate' }]);
  const timed = await (await Scene.set(skipping, [{ id: 'gate' }])).call('t', 1, { prefer: 'wait=20' });
  const denied = await scene.call('t', 1);
  await scene.resolve(denied.body.pendingWaits[0].id, { decision: 'deny' });
  const cancelled = await scene.call('t', 1);
  await scene.agent.delete(`/v1/threads/${scene.threadId}/tool-calls/${cancelled.body.id}`);
  const by = [timed, await scene.read(denied.body.id), await scene.read(cancelled.body.id)].map(
    ({ body }) => body.denial.by,
  );
  expect(by).toEqual(['timeout', 'human', 'cancelled']);
  await skipping.stop();
});
