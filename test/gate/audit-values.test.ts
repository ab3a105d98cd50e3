import { placesWith } from '../support/everywhere';
import { HEADER_SECRET, OWN_SIGNING } from '../support/hook-service';
import { startReceiver, type Receiver } from '../support/receiver';
import { Scene } from '../support/scene';
import { startStack, type Stack } from '../support/stack';

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

const INPUT = {
  to: 'ACME',
  password: 'p-4711',
  deep: [{ list: [{ headers: { Authorization: 'Bearer abcdefghijklmnop' } }] }],
  note: 'card 4111111111111111',
  iban: 'DE00 1234',
  text: `use ${HEADER_SECRET} here`,
};

/** A call whose input is rewritten, whose output is let through, under these settings; and all its events as text. */
async function audited(settings: object): Promise<{ scene: Scene; callId: string; text: string }> {
  const admin = await stack.as('root', ['admin']);
  expect((await admin.put('/v1/settings', settings)).status).toBe(200);
  receiver.behave(({ input }) =>
    input.point === 'before_tool_call'
      ? { decision: 'defer', updatedInput: { ...input.input, token: `t ${OWN_SIGNING}` } }
      : { decision: 'defer', reason: `saw ${HEADER_SECRET}` },
  );
  const scene = await Scene.set(stack, [
    { id: 'rewriter', url: receiver.url },
    { id: 'after', point: 'after_tool_call', url: receiver.url },
  ]);
  const made = await scene.call('pay', INPUT);
  expect(made.body.input).toEqual({ ...INPUT, token: `t ${OWN_SIGNING}` });
  await scene.output(made.body.id, { output: { secret: 's-0815', echo: [`got ${HEADER_SECRET}`], ok: 1 } });
  return { scene, callId: made.body.id, text: JSON.stringify(await scene.events()) };
}

const valueOf = async (scene: Scene, callId: string, type: string) =>
  (await scene.eventsOf(callId, type)).map(({ data }) => data.value);

test('under none no event holds a value, and every one its digests', async () => {
  const { scene, callId, text } = await audited({ auditValues: 'none' });
  expect(text).not.toContain('"value"');
  expect(text).not.toMatch(/ACME|p-4711|s-0815|4111/);
  for (const { data } of await scene.eventsOf(callId, 'hook_decision')) {
    expect(data.digestAfter).toMatch(/^[0-9a-f]{64}$/);
  }
});

test('redacted is the default: what is secret by its name, its looks or the tenant’s word is hidden at any depth', async () => {
  const { scene, callId, text } = await audited({
    redaction: { fields: ['IBAN'], patterns: ['\\b[0-9]{16}\\b'] },
  });
  const [value] = await valueOf(scene, callId, 'tool_call_started');
  expect(value).toMatchObject({
    to: 'ACME',
    password: '[redacted]',
    deep: [{ list: [{ headers: { Authorization: '[redacted]' } }] }],
    note: 'card [redacted]',
    iban: '[redacted]',
    text: 'use [redacted] here',
  });
  const [rewritten] = await valueOf(scene, callId, 'hook_decision');
  expect(rewritten).toMatchObject({ to: 'ACME', token: '[redacted]' });
  expect(await valueOf(scene, callId, 'tool_call_finished')).toEqual([
    { secret: '[redacted]', echo: ['got [redacted]'], ok: 1 },
  ]);
  expect(text).not.toMatch(/p-4711|s-0815|4111|DE00|abcdefghijklmnop/);
  expect(text).not.toContain(HEADER_SECRET);
  expect(text).not.toContain(OWN_SIGNING);
});

test('under full everything is shown but the secrets that the service knows: in no value, no reason, at no depth', async () => {
  const { scene, callId, text } = await audited({ auditValues: 'full' });
  const [value] = await valueOf(scene, callId, 'tool_call_started');
  expect(value).toEqual({ ...INPUT, text: 'use [redacted] here' });
  expect(await valueOf(scene, callId, 'tool_call_finished')).toEqual([
    { secret: 's-0815', echo: ['got [redacted]'], ok: 1 },
  ]);
  expect(text).not.toContain(HEADER_SECRET);
  expect(text).not.toContain(OWN_SIGNING);
  const reasons = (await scene.eventsOf(callId, 'hook_decision')).map(({ data }) => data.reason?.text);
  expect(reasons).toEqual([undefined, 'saw [redacted]']);
});

test('an edit and a vote show what they made of the input; nothing that is judged after the tool is shown', async () => {
  const admin = await stack.as('root', ['admin']);
  await admin.put('/v1/settings', { auditValues: 'full' });
  const scene = await Scene.set(stack, [
    { id: 'two', minApprovals: 2 },
    { id: 'after', point: 'after_tool_call', minApprovals: 2 },
  ]);
  const made = await scene.call('t', 'first');
  const [wait] = made.body.pendingWaits;
  const { subjectDigest } = wait;
  await scene.resolve(wait.id, { decision: 'allow', updatedInput: 'second', subjectDigest });
  const [vote] = await scene.eventsOf(made.body.id, 'wait_vote');
  expect(vote!.data).toMatchObject({ rewrote: true, value: 'second' });
  const now = (await scene.thread()).body.pendingWaits[0].subjectDigest;
  const bob = await stack.as('bob', ['waits:resolve']);
  await scene.resolve(wait.id, { decision: 'allow', subjectDigest: now }, bob);
  const parked = await scene.output(made.body.id, { output: 'OUTPUT' });
  const [after] = parked.body.pendingWaits;
  await scene.resolve(after.id, {
    decision: 'allow',
    updatedOutput: 'EDITED',
    subjectDigest: after.subjectDigest,
  });
  expect(JSON.stringify(await scene.events())).not.toMatch(/OUTPUT|EDITED/);
  await scene.resolve(after.id, { decision: 'deny' }, bob);
  expect(await placesWith(scene, made.body.id, 'OUTPUT')).toEqual([]);
  expect(await placesWith(scene, made.body.id, 'EDITED')).toEqual([]);
});

test('a hook that sends back all that it was told leaves nothing of it in events or answers', async () => {
  const admin = await stack.as('root', ['admin']);
  await admin.put('/v1/settings', { auditValues: 'none' });
  receiver.behave(({ text }, response) => {
    response.writeHead(200).end(text);
    return undefined;
  });
  const scene = await Scene.set(stack, [{ id: 'echo', url: receiver.url }]);
  const made = await scene.call('t', { echo: 'ECHOED' });
  expect(made.body).toMatchObject({ status: 'denied', denial: { reason: { code: 'answer_invalid' } } });
  expect(JSON.stringify([made.body.denial, await scene.events()])).not.toContain('ECHOED');
});
