import { placesWith } from '../support/everywhere';
import { HEADER_SECRET, OWN_SIGNING, TENANT_SIGNING } from '../support/hook-service';
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
  expect(await valueOf(scene, callId, 'hook_decision')).toEqual([
    { ...INPUT, text: 'use [redacted] here', token: 't [redacted]' },
    undefined,
  ]);
  expect(await valueOf(scene, callId, 'tool_call_finished')).toEqual([
    { secret: 's-0815', echo: ['got [redacted]'], ok: 1 },
  ]);
  expect(text).not.toContain(HEADER_SECRET);
  expect(text).not.toContain(OWN_SIGNING);
  const reasons = (await scene.eventsOf(callId, 'hook_decision')).map(({ data }) => data.reason?.text);
  expect(reasons).toEqual([undefined, 'saw [redacted]']);
});

/** Places for a text that is five levels deep, and in forms that a text takes on its way. */
const everywhereIn = (text: string) => ({
  levels: [{ of: [{ two: `<${text}>` }] }],
  [`named ${text}`]: 1,
  json: JSON.stringify({ a: [JSON.stringify({ b: text })] }),
  url: `https://example.com/?q=${encodeURIComponent(text)}`,
  twice: text + text,
});

describe.each(['none', 'redacted', 'full'] as const)('under %s', (auditValues) => {
  beforeEach(async () => {
    const admin = await stack.as('root', ['admin']);
    await admin.put('/v1/settings', { auditValues, redaction: { fields: [], patterns: [] } });
  });

  const SECRETS = [HEADER_SECRET, OWN_SIGNING, TENANT_SIGNING];

  const expectNoSecret = (text: string): void => {
    for (const secret of SECRETS) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(encodeURIComponent(secret));
    }
  };

  test('a named secret is in no event: of an input, a rewrite, an output, a reason, at any depth, in any form', async () => {
    const deep = everywhereIn(SECRETS.join(' '));
    receiver.behave(({ input }) =>
      input.point === 'before_tool_call'
        ? { decision: 'defer', updatedInput: { rewritten: deep }, reason: SECRETS.join() }
        : { decision: 'defer', updatedOutput: { rewritten: deep }, reason: SECRETS.join() },
    );
    const scene = await Scene.set(stack, [
      { id: 'before', url: receiver.url },
      { id: 'after', point: 'after_tool_call', url: receiver.url },
    ]);
    const made = await scene.call('t', { marker: 'KEPT', deep });
    expect(made.body.input).toEqual({ rewritten: deep });
    const done = await scene.output(made.body.id, { output: deep });
    expect(done.body.output).toEqual({ rewritten: deep });

    const events = await scene.eventsOf(made.body.id);
    expectNoSecret(JSON.stringify(await scene.events()));
    const shown = events.filter(({ data }) => 'value' in data).map(({ type }) => type);
    expect(shown).toEqual(
      auditValues === 'none' ? [] : ['tool_call_started', 'hook_decision', 'tool_call_finished'],
    );
    expect(JSON.stringify(events).includes('KEPT')).toBe(auditValues !== 'none');
  });

  test('a named secret is in no event of a call that is denied with it in the reason, nor of one whose tool failed', async () => {
    receiver.behave(({ input }) => ({
      decision: input.input === 'deny' ? 'deny' : 'defer',
      reason: `because of ${SECRETS.join(' and ')}`,
    }));
    const scene = await Scene.set(stack, [{ id: 'before', url: receiver.url }]);
    const denied = await scene.call('t', 'deny');
    expect(denied.body.status).toBe('denied');
    const [finished] = await scene.eventsOf(denied.body.id, 'tool_call_finished');
    expect(finished!.data.denial.reason.text).toBe('because of [redacted] and [redacted] and [redacted]');
    const made = await scene.call('t', 'run');
    await scene.output(made.body.id, { error: everywhereIn(SECRETS.join(' ')) });
    expectNoSecret(JSON.stringify(await scene.events()));
  });

  test('a named secret is in no event of a person who edits, votes and says why', async () => {
    const scene = await Scene.set(stack, [{ id: 'two', minApprovals: 2 }]);
    const made = await scene.call('t', 'first');
    const [wait] = made.body.pendingWaits;
    const edit = { decision: 'allow', updatedInput: everywhereIn(SECRETS.join(' ')) };
    const edited = { ...edit, subjectDigest: wait.subjectDigest, reason: SECRETS.join() };
    expect((await scene.resolve(wait.id, edited)).status).toBe(200);
    const bob = await stack.as('bob', ['waits:resolve']);
    expect((await scene.resolve(wait.id, { decision: 'deny', reason: SECRETS.join() }, bob)).status).toBe(
      200,
    );
    expectNoSecret(JSON.stringify(await scene.events()));
  });

  test('a hook that sends back all that it was told leaves nothing of it, and not the token of its callback', async () => {
    receiver.behave(({ text }, response) => {
      response.writeHead(200).end(text);
      return undefined;
    });
    const scene = await Scene.set(stack, [{ id: 'echo', point: 'after_tool_call', url: receiver.url }]);
    const made = await scene.call('t', 'INPUT');
    const told = await scene.output(made.body.id, { output: 'ECHOED' });
    expect(told.body).toMatchObject({ status: 'denied', denial: { reason: { code: 'answer_invalid' } } });
    const { token, expiresAt } = receiver.received.at(-1)!.input.callback;
    const shown = JSON.stringify([told.body, await scene.events()]);
    for (const echoed of ['ECHOED', token, expiresAt]) expect(shown).not.toContain(echoed);
    expect(await placesWith(scene, made.body.id, token)).toEqual([]);
  });
});

test('what the tenant hides is hidden at depth five, by a field’s name in any spelling and by a pattern', async () => {
  const admin = await stack.as('root', ['admin']);
  await admin.put('/v1/settings', {
    auditValues: 'redacted',
    redaction: { fields: ['customer_number'], patterns: ['(?i)case-[0-9]+'] },
  });
  const value = {
    a: [{ b: [{ password: 'P-1', CustomerNumber: { x: ['C-1'] }, note: 'see CASE-77 now', kept: 'K-1' }] }],
  };
  const hidden = {
    a: [
      {
        b: [
          { password: '[redacted]', CustomerNumber: '[redacted]', note: 'see [redacted] now', kept: 'K-1' },
        ],
      },
    ],
  };
  receiver.behave(() => ({ decision: 'defer', updatedInput: [value], reason: 'as in case-78' }));
  const scene = await Scene.set(stack, [{ id: 'h', url: receiver.url }]);
  const made = await scene.call('t', value);
  expect(made.body.input).toEqual([value]);
  await scene.output(made.body.id, { output: { value } });
  expect(await valueOf(scene, made.body.id, 'tool_call_started')).toEqual([hidden]);
  expect(await valueOf(scene, made.body.id, 'hook_decision')).toEqual([[hidden]]);
  expect(await valueOf(scene, made.body.id, 'tool_call_finished')).toEqual([{ value: hidden }]);
  const [decision] = await scene.eventsOf(made.body.id, 'hook_decision');
  expect(decision!.data.reason.text).toBe('as in [redacted]');
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
