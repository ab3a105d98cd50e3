import { placesWith } from '../support/everywhere';
import { startReceiver, type Receiver } from '../support/receiver';
import { Scene } from '../support/scene';
import { startStack, type Stack } from '../support/stack';

const SECRET = 'SECRET-of-the-output-4711';

let stack: Stack;
let receiver: Receiver;

beforeAll(async () => {
  stack = await startStack();
  receiver = await startReceiver();
});
afterAll(async () => {
  await stack.stop();
  await receiver.close();
});

/** A call that is allowed, and its hooks after the tool. */
async function allowedCall(hooks: Parameters<typeof Scene.set>[1]) {
  const scene = await Scene.set(stack, hooks);
  const made = await scene.call('db.read', { table: 'people' });
  expect(made.body.status).toBe('allowed');
  return { scene, callId: made.body.id as string };
}

const after = { point: 'after_tool_call' } as const;

test('a denied output is found nowhere: not in the store, the decoded history, events, or any answer', async () => {
  receiver.behave(() => ({ decision: 'deny', reason: 'personal data' }));
  const { scene, callId } = await allowedCall([{ id: 'guard', ...after, url: receiver.url }]);
  const told = await scene.output(callId, { output: { deep: [{ text: `a ${SECRET} b` }] } });
  expect(told.body).toMatchObject({
    status: 'denied',
    denial: { by: 'policy', hookId: 'guard', executed: true, reason: { code: 'denied_by_policy' } },
  });
  expect(told.body.denial.reason.text).toBe(
    'The tool has run. Its output is withheld; do not repeat the call. personal data',
  );
  expect(await placesWith(scene, callId, SECRET)).toEqual([]);
  expect(JSON.stringify(told.body)).not.toContain(SECRET);
  // The search itself sees what is there: the input is no secret.
  expect(await placesWith(scene, callId, 'people')).toEqual(
    expect.arrayContaining(['history', 'events', expect.stringContaining('call:')]),
  );
});

test('a rewritten output leaves only what it became', async () => {
  receiver.behave(({ input }) => ({
    decision: 'defer',
    updatedOutput: JSON.parse(JSON.stringify(input.output).replaceAll(SECRET, 'XXXX')),
  }));
  const { scene, callId } = await allowedCall([
    { id: 'redactor', ...after, url: receiver.url },
    { id: 'person', ...after },
  ]);
  const parked = await scene.output(callId, { output: { text: SECRET, other: 1 } });
  expect(parked.status).toBe(202);
  expect(await placesWith(scene, callId, SECRET)).toEqual([]);
  const seen = await scene.approver.get(`/v1/threads/${scene.threadId}/tool-calls/${callId}`);
  expect(seen.body.pendingWaits[0].value).toEqual({ text: 'XXXX', other: 1 });
  const [wait] = parked.body.pendingWaits;
  await scene.resolve(wait.id, { decision: 'allow', subjectDigest: wait.subjectDigest });
  const done = await scene.read(callId, 5);
  expect(done.body).toMatchObject({ status: 'completed', output: { text: 'XXXX', other: 1 } });
  expect(await placesWith(scene, callId, SECRET)).toEqual([]);
  const decisions = await scene.eventsOf(callId, 'hook_decision');
  expect(decisions.map(({ data }) => [data.hookId, data.decision, data.rewrote])).toEqual([
    ['redactor', 'defer', true],
    ['person', 'allow', undefined],
  ]);
});

test('what waits for judgement is seen by who may judge it and by nobody else, and is in no history', async () => {
  const { scene, callId } = await allowedCall([{ id: 'person', ...after }]);
  const parked = await scene.output(callId, { output: SECRET });
  expect(parked.status).toBe(202);
  expect(parked.headers.get('location')).toContain(callId);
  expect(JSON.stringify(parked.body)).not.toContain(SECRET);
  const places = await placesWith(scene, callId, SECRET);
  expect(places.filter((place) => !place.includes(':blob:'))).toEqual(['call for an approver', 'thread']);
  expect(places.some((place) => place.includes(':blob:'))).toBe(true);
  const [wait] = parked.body.pendingWaits;
  await scene.resolve(wait.id, { decision: 'deny' });
  expect((await scene.read(callId, 5)).body).toMatchObject({
    status: 'denied',
    denial: { by: 'human', executed: true },
  });
  expect(await placesWith(scene, callId, SECRET)).toEqual([]);
});

test('an edit by a person at the after-point replaces the output and travels as a blob however small', async () => {
  const { scene, callId } = await allowedCall([{ id: 'person', ...after }]);
  const parked = await scene.output(callId, { output: SECRET });
  const [wait] = parked.body.pendingWaits;
  const edited = await scene.resolve(wait.id, { decision: 'allow', updatedOutput: null });
  expect(edited.status).toBe(200);
  expect((await scene.read(callId, 5)).body).toMatchObject({ status: 'completed', output: null });
  expect(await placesWith(scene, callId, SECRET)).toEqual([]);
});

test('the hooks after the tool judge its error too, and a rewrite of it stays an error', async () => {
  receiver.behave(({ input }) =>
    'error' in input ? { decision: 'allow', updatedOutput: { message: 'hidden' } } : { decision: 'deny' },
  );
  const { scene, callId } = await allowedCall([{ id: 'guard', ...after, url: receiver.url }]);
  const told = await scene.output(callId, { error: { message: `no access for ${SECRET}` } });
  expect(told.body).toMatchObject({ status: 'failed', error: { message: 'hidden' } });
  expect(told.body).not.toHaveProperty('output');
  expect(await placesWith(scene, callId, SECRET)).toEqual([]);
});

test('the same report again is the same report, whatever the hooks made of it; another one is refused', async () => {
  receiver.behave(() => ({ decision: 'defer', updatedOutput: 'new' }));
  const { scene, callId } = await allowedCall([
    { id: 'rewriter', ...after, url: receiver.url },
    { id: 'person', ...after },
  ]);
  expect((await scene.output(callId, { output: 'old' })).status).toBe(202);
  expect((await scene.output(callId, { output: 'old' })).status).toBe(202);
  const other = await scene.output(callId, { output: 'other' });
  expect(other.status).toBe(409);
  expect(other.body.type).toBe('/problems/result-reported');
  const [wait] = (await scene.read(callId)).body.pendingWaits;
  await scene.resolve(wait.id, { decision: 'allow' });
  const again = await scene.output(callId, { output: 'old' });
  expect(again.status).toBe(200);
  expect(again.body).toMatchObject({ status: 'completed', output: 'new' });
  expect(await scene.eventsOf(callId, 'tool_finished')).toHaveLength(1);
});

test('a call that was denied or cancelled asks no hook after the tool; what comes late is kept by digest only', async () => {
  receiver.behave(() => ({ decision: 'defer' }));
  const before = receiver.received.length;
  const scene = await Scene.set(stack, [{ id: 'person' }, { id: 'guard', ...after, url: receiver.url }]);
  const made = await scene.call('t', {});
  const callId = made.body.id;
  await scene.agent.delete(`/v1/threads/${scene.threadId}/tool-calls/${callId}`);
  const late = await scene.output(callId, { output: SECRET });
  expect(late.status).toBe(409);
  expect(receiver.received.length).toBe(before);
  const [event] = await scene.eventsOf(callId, 'tool_finished');
  expect(event!.data).toMatchObject({ late: true, digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(await placesWith(scene, callId, SECRET)).toEqual([]);
});

test('a call that is given up while its output is judged has executed, and the output is gone', async () => {
  const { scene, callId } = await allowedCall([{ id: 'person', ...after }]);
  await scene.output(callId, { output: SECRET });
  const cancelled = await scene.agent.delete(`/v1/threads/${scene.threadId}/tool-calls/${callId}`);
  expect(cancelled.body).toMatchObject({ status: 'cancelled', denial: { by: 'cancelled', executed: true } });
  expect(await placesWith(scene, callId, SECRET)).toEqual([]);
});

test('falsy outputs and falsy rewrites arrive unchanged; no rewrite is another thing than a rewrite to null', async () => {
  for (const value of [false, 0, '', null, [], {}]) {
    receiver.behave(() => ({ decision: 'defer', updatedOutput: value }));
    const { scene, callId } = await allowedCall([{ id: 'rewriter', ...after, url: receiver.url }]);
    expect((await scene.output(callId, { output: 'something' })).body).toMatchObject({
      status: 'completed',
      output: value,
    });
    receiver.behave(() => ({ decision: 'defer' }));
    const other = await allowedCall([{ id: 'silent', ...after, url: receiver.url }]);
    expect((await other.scene.output(other.callId, { output: value })).body.output).toEqual(value);
  }
});

test('under redacted and full the audit shows an output only when it was let through, as it was let through', async () => {
  receiver.behave(() => ({ decision: 'defer', updatedOutput: 'clean' }));
  const { scene, callId } = await allowedCall([{ id: 'rewriter', ...after, url: receiver.url }]);
  await scene.output(callId, { output: SECRET });
  const [finished] = await scene.eventsOf(callId, 'tool_call_finished');
  expect(finished!.data).toMatchObject({ status: 'completed', value: 'clean' });
  const [decision] = await scene.eventsOf(callId, 'hook_decision');
  expect(decision!.data).not.toHaveProperty('value');
});
