import { Scene } from '../support/scene';
import { startStack, type Stack } from '../support/stack';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

test('of 50 concurrent resolvers, half allow and half deny, one wins and the others are told what won', async () => {
  const scene = await Scene.set(stack, [{ id: 'gate' }]);
  const call = await scene.call('payments.transfer', { amount: 1 });
  const waitId = call.body.pendingWaits[0].id;
  const people = await Promise.all(
    Array.from({ length: 50 }, (_, index) => stack.as(`person-${index}`, ['waits:resolve'])),
  );
  const answers = await Promise.all(
    people.map((person, index) =>
      scene.resolve(waitId, { decision: index % 2 === 0 ? 'allow' : 'deny' }, person),
    ),
  );
  const winners = answers.filter(({ status }) => status === 200);
  expect(winners).toHaveLength(1);
  const won = winners[0]?.body.outcome;
  const losers = answers.filter(({ status }) => status !== 200);
  expect(losers.map(({ status }) => status)).toEqual(losers.map(() => 409));
  expect(losers.map(({ body }) => body.outcome)).toEqual(losers.map(() => won));

  const settled = await scene.read(call.body.id);
  expect(settled.body.status).toBe(won.decision === 'allow' ? 'allowed' : 'denied');
  expect(await scene.eventsOf(call.body.id, 'wait_resolved')).toHaveLength(1);
  const decisions = await scene.eventsOf(call.body.id, 'hook_decision');
  expect(decisions.map(({ data }) => [data.decision, data.resolvedBy])).toEqual([[won.decision, won.by]]);
});

test('three parallel calls of one tool, answered in reverse order with different edits, each run with their own', async () => {
  const scene = await Scene.set(stack, [{ id: 'gate' }]);
  const calls = await Promise.all([1, 2, 3].map((n) => scene.call('payments.transfer', { n })));
  for (const call of [...calls].reverse()) {
    const wait = call.body.pendingWaits[0];
    const seen = (await scene.thread()).body.pendingWaits.find(({ id }: { id: string }) => id === wait.id);
    const answer = await scene.resolve(wait.id, {
      decision: 'allow',
      updatedInput: { edited: seen.value.n },
    });
    expect(answer.status).toBe(200);
  }
  const settled = await Promise.all(calls.map((call) => scene.read(call.body.id)));
  expect(settled.map(({ body }) => body.input)).toEqual([{ edited: 1 }, { edited: 2 }, { edited: 3 }]);
});

test('a resolve within 5 ms of the park is never lost, 200 times', async () => {
  const scene = await Scene.set(stack, [{ id: 'gate' }]);
  const feed = stack.store.changes.listen(scene.threadId);
  for (let round = 0; round < 200; round += 1) {
    const making = scene.call('t', { round });
    // On the store's own notice of the park: the answer is on its way within a millisecond or two, before the caller
    // has been told of the wait.
    let wait;
    while (wait === undefined) {
      await feed.next(1_000);
      const { openWaits } = await stack.store.threads.readOpenWork(scene.threadId);
      [wait] = openWaits;
    }
    const resolving = scene.resolve(wait, { decision: 'allow' });
    const [made, resolved] = await Promise.all([making, resolving]);
    expect(resolved.status).toBe(200);
    const settled = await scene.read(made.body.id);
    expect(settled.body.status).toBe('allowed');
  }
  feed.stop();
  expect((await scene.thread()).body).toMatchObject({ state: 'running', pendingWaits: [] });
}, 120_000);

test('free and parked calls made together: the free ones return at once and are still there after the answer', async () => {
  const scene = await Scene.set(stack, [{ id: 'gate', tools: ['gated.*'] }]);
  const [free, parked, other] = await Promise.all([
    scene.call('free.one', 1),
    scene.call('gated.one', 2),
    scene.call('free.two', 3),
  ]);
  expect([free.status, parked.status, other.status]).toEqual([200, 202, 200]);
  await scene.output(free.body.id, { output: 'first' });
  await scene.resolve(parked.body.pendingWaits[0].id, { decision: 'deny' });
  await scene.output(other.body.id, { output: 'third' });
  const list = await scene.agent.get(`/v1/threads/${scene.threadId}/tool-calls`);
  const byId = new Map(list.body.items.map((call: { id: string }) => [call.id, call]));
  expect(byId.get(free.body.id)).toMatchObject({ status: 'completed', output: 'first' });
  expect(byId.get(parked.body.id)).toMatchObject({ status: 'denied' });
  expect(byId.get(other.body.id)).toMatchObject({ status: 'completed', output: 'third' });
});

test('two outputs at once: one is kept, the other is refused and noted', async () => {
  const scene = await Scene.set(stack, []);
  const call = await scene.call('t', 1);
  const answers = await Promise.all([1, 2, 3, 4].map((n) => scene.output(call.body.id, { output: n })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  const kept = answers.find(({ status }) => status === 200);
  expect((await scene.read(call.body.id)).body.output).toBe(kept?.body.output);
  const finished = await scene.eventsOf(call.body.id, 'tool_finished');
  expect(finished.filter(({ data }) => data.late === undefined)).toHaveLength(1);
  expect(finished.filter(({ data }) => data.late === true)).toHaveLength(3);
});
