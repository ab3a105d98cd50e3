import { randomUUID } from 'node:crypto';
import { canonicalJson, sha256Hex } from '../../src/domain/digest';
import { placesWith } from '../support/everywhere';
import { startReceiver, type Receiver } from '../support/receiver';
import { Scene } from '../support/scene';
import { startStack, type Stack } from '../support/stack';

/** Of one test alone: texts that are let through stay in the store. */
const newSecret = (): string => `SECRET-${randomUUID()}`;
const POINTS = [
  ['inputs', 'before_input'],
  ['outputs', 'after_output'],
] as const;

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

const digestOf = (point: string, value: string): string => sha256Hex(canonicalJson({ point, value }));

describe.each(POINTS)('%s', (collection, point) => {
  test('a text that no hook judges is let through at once, and the audit says so', async () => {
    const scene = await Scene.set(stack, [{ id: 'tools-only' }]);
    const made = await scene.text(collection, 'Hello');
    expect(made.status).toBe(200);
    expect(made.body).toMatchObject({
      point,
      status: 'completed',
      text: 'Hello',
      subjectDigest: digestOf(point, 'Hello'),
      pendingWaits: [],
    });
    expect(made.headers.get('location')).toBe(
      `/v1/threads/${scene.threadId}/${collection}/${made.body.id as string}`,
    );
    expect((await scene.readText(collection, made.body.id)).body).toEqual(made.body);
    const events = await scene.eventsOf(made.body.id);
    expect(events.map(({ type }) => type)).toEqual(['text_started', 'text_finished']);
    expect(events[0]!.data).not.toHaveProperty('value');
  });

  test('a person lets a text through, as it is or edited, and its caller sees it only then', async () => {
    const scene = await Scene.set(stack, [{ id: 'person', point }]);
    for (const [answer, edited] of [
      [{ decision: 'allow' }, undefined],
      [{ decision: 'allow', updatedText: 'a mild text' }, 'a mild text'],
      [{ decision: 'defer' }, undefined],
    ] as const) {
      const secret = newSecret();
      const expected = edited ?? secret;
      const parked = await scene.text(collection, secret);
      expect(parked.status).toBe(202);
      expect(parked.body.status).toBe('waiting');
      expect(JSON.stringify(parked.body)).not.toContain(secret);
      const [wait] = parked.body.pendingWaits;
      const seen = await scene.readText(collection, parked.body.id, 0, scene.approver);
      expect(seen.body.pendingWaits[0]).toMatchObject({ value: secret, point, kind: 'client' });
      expect(seen.body.pendingWaits[0]).not.toHaveProperty('tool');
      expect((await scene.thread()).body).toMatchObject({
        state: 'waiting',
        pendingWaits: [{ id: wait.id }],
      });
      expect((await scene.resolve(wait.id, answer)).status).toBe(200);
      const done = await scene.readText(collection, parked.body.id, 5);
      expect(done.body).toMatchObject({
        status: 'completed',
        text: expected,
        subjectDigest: digestOf(point, expected),
      });
      if (expected !== secret) expect(await placesWith(scene, parked.body.id, secret)).toEqual([]);
    }
  });

  test('a denied text is found nowhere: not in the store, the decoded history, events, or any answer', async () => {
    const secret = newSecret();
    receiver.behave(() => ({ decision: 'deny', reason: 'personal data' }));
    const scene = await Scene.set(stack, [{ id: 'guard', point, url: receiver.url }]);
    const told = await scene.text(collection, `a ${secret} b`);
    expect(told.status).toBe(200);
    expect(told.body).toMatchObject({
      status: 'denied',
      denial: { by: 'policy', hookId: 'guard', executed: point === 'after_output' },
    });
    expect(told.body).not.toHaveProperty('text');
    expect(await placesWith(scene, told.body.id, secret)).toEqual([]);
    // The search itself sees what is there.
    expect(await placesWith(scene, told.body.id, 'personal data')).toEqual(
      expect.arrayContaining(['history', 'events', expect.stringContaining('call:')]),
    );
    const read = await scene.readText(collection, told.body.id, 0, scene.approver);
    expect(JSON.stringify(read.body)).not.toContain(secret);
  });

  test('rewrites compose, each hook sees what the one before made of it, and leave only the last', async () => {
    const secret = newSecret();
    receiver.behave(({ input }) => ({ decision: 'defer', updatedText: `${input.text as string}!` }));
    const scene = await Scene.set(stack, [
      { id: 'one', point, url: receiver.url },
      { id: 'two', point, url: receiver.url },
    ]);
    const before = receiver.received.length;
    const done = await scene.text(collection, secret, {}, { actor: { name: 'ann' } });
    expect(done.body).toMatchObject({ status: 'completed', text: `${secret}!!` });
    const inputs = receiver.received.slice(before).map(({ input }) => input);
    expect(inputs.map(({ text }) => text)).toEqual([secret, `${secret}!`]);
    expect(inputs[1]).toMatchObject({
      hookId: 'two',
      point,
      callId: done.body.id,
      rewrittenBy: ['one'],
      actor: { name: 'ann' },
      subjectDigest: digestOf(point, `${secret}!`),
    });
    expect(inputs[1]).not.toHaveProperty('tool');
    expect(inputs[1]).not.toHaveProperty('input');
    const places = await placesWith(scene, done.body.id, `"${secret}"`);
    expect(places).toEqual([]);
    const decisions = await scene.eventsOf(done.body.id, 'hook_decision');
    expect(decisions.map(({ data }) => [data.hookId, data.decision, data.rewrote])).toEqual([
      ['one', 'defer', true],
      ['two', 'defer', true],
    ]);
  });

  test('a hook that answers later, asks for a person or fails is obeyed as at the tool points', async () => {
    receiver.behave((_, response) => {
      response.writeHead(202).end();
      return undefined;
    });
    const scene = await Scene.set(stack, [{ id: 'slow', point, url: receiver.url, retries: 0 }]);
    const parked = await scene.text(collection, 'x');
    expect(parked.body.pendingWaits).toMatchObject([{ kind: 'delivery', hookId: 'slow' }]);
    const { callback } = receiver.received.at(-1)!.input;
    const answered = await fetch(callback.url, {
      method: 'POST',
      headers: { authorization: `Bearer ${callback.token as string}`, 'content-type': 'application/json' },
      body: JSON.stringify({ decision: 'allow', updatedText: 'later' }),
    });
    expect(answered.status).toBe(200);
    expect((await scene.readText(collection, parked.body.id, 5)).body).toMatchObject({ text: 'later' });

    receiver.behave(() => ({ decision: 'ask', updatedText: 'asked' }));
    const asked = await scene.text(collection, 'x');
    const [wait] = asked.body.pendingWaits;
    expect(wait).toMatchObject({ kind: 'ask', subjectDigest: digestOf(point, 'asked') });
    await scene.resolve(wait.id, { decision: 'allow' });
    expect((await scene.readText(collection, asked.body.id, 5)).body).toMatchObject({ text: 'asked' });

    receiver.behave(() => ({ decision: 'allow', updatedInput: 'of the wrong kind' }));
    const failed = await scene.text(collection, 'x');
    expect(failed.body).toMatchObject({ status: 'denied', denial: { by: 'hook_failure' } });
    receiver.behave(() => ({ decision: 'allow', updatedText: { no: 'text' } }));
    expect((await scene.text(collection, 'x')).body).toMatchObject({ status: 'denied' });
  });

  test('conditions look at the text', async () => {
    const where = [{ field: '/text', op: 'contains', value: 'password' }];
    const scene = await Scene.set(stack, [{ id: 'person', point, where }]);
    expect((await scene.text(collection, 'hello')).status).toBe(200);
    expect((await scene.text(collection, 'my password is')).status).toBe(202);
  });

  test('twenty equal requests under one key are one text; another one under it is refused', async () => {
    const secret = newSecret();
    const scene = await Scene.set(stack, [{ id: 'person', point }]);
    const headers = { 'idempotency-key': 'k-1' };
    const all = await Promise.all(Array.from({ length: 20 }, () => scene.text(collection, secret, headers)));
    expect(new Set(all.map(({ body }) => body.id)).size).toBe(1);
    const [{ body }] = all as [(typeof all)[number]];
    const denied = await scene.resolve(body.pendingWaits[0].id, { decision: 'deny' });
    expect(denied.status).toBe(200);
    expect((await scene.text(collection, secret, headers)).body).toMatchObject({ status: 'denied' });
    expect((await scene.text(collection, 'other', headers)).status).toBe(422);
    // None of the requests that came second has left its copy.
    expect(await placesWith(scene, body.id, secret)).toEqual([]);
  });

  test('a text that is given up, or whose thread is closed, is cancelled and deleted', async () => {
    const secret = newSecret();
    const scene = await Scene.set(stack, [{ id: 'person', point }]);
    const parked = await scene.text(collection, secret);
    const gone = await scene.agent.delete(
      `/v1/threads/${scene.threadId}/${collection}/${parked.body.id as string}`,
    );
    expect(gone.body).toMatchObject({ status: 'cancelled', denial: { by: 'cancelled' }, pendingWaits: [] });
    expect(await placesWith(scene, parked.body.id, secret)).toEqual([]);
    const second = await scene.text(collection, secret);
    await scene.agent.delete(`/v1/threads/${scene.threadId}`);
    expect((await scene.readText(collection, second.body.id)).body).toMatchObject({ status: 'cancelled' });
    expect(await placesWith(scene, second.body.id, secret)).toEqual([]);
    expect((await scene.text(collection, 'x')).status).toBe(409);
  });

  test('texts, calls and points are not mistaken for each other, and bad input is told at its place', async () => {
    const scene = await Scene.set(stack, []);
    const { body } = await scene.text(collection, 'x');
    const other = collection === 'inputs' ? 'outputs' : 'inputs';
    expect((await scene.readText(other, body.id)).status).toBe(404);
    expect((await scene.read(body.id)).status).toBe(404);
    expect((await scene.output(body.id)).status).toBe(404);
    const call = await scene.call('t', 1);
    expect((await scene.readText(collection, call.body.id)).status).toBe(404);
    const foreign = await stack.as('stranger', ['calls']);
    expect((await scene.readText(collection, body.id, 0, foreign)).status).toBe(404);
    expect((await scene.agent.get(`/v1/threads/${scene.threadId}/tool-calls`)).body.items).toHaveLength(1);
    for (const text of [1, null, ['x'], { a: 1 }, undefined, '\ud800']) {
      const refused = await scene.text(collection, text);
      expect(refused.status).toBe(422);
    }
    expect((await scene.text(collection, '')).body).toMatchObject({ status: 'completed', text: '' });
    expect((await scene.text(collection, 'x'.repeat(1_048_574))).status).toBe(200);
    expect((await scene.text(collection, 'x'.repeat(1_048_575))).status).toBe(422);
  });
});

test('a text that nobody judges in time is withheld under fail_closed and let through under fail_open', async () => {
  const secret = newSecret();
  const skipping = await startStack({ skipTime: true });
  try {
    for (const [onFailure, expected] of [
      ['fail_closed', { status: 'denied', denial: { by: 'timeout' } }],
      ['fail_open', { status: 'completed', text: secret }],
    ] as const) {
      const scene = await Scene.set(skipping, [
        { id: 'person', point: 'after_output', onFailure, asyncTimeoutMs: 86_400_000 },
      ]);
      const parked = await scene.text('outputs', secret);
      const done = await scene.readText('outputs', parked.body.id, 10);
      expect(done.body).toMatchObject(expected);
      if (onFailure === 'fail_closed') expect(await placesWith(scene, parked.body.id, secret)).toEqual([]);
    }
  } finally {
    await skipping.stop();
  }
});

test('an operator may let a text out by signal, and may not rewrite it', async () => {
  const secret = newSecret();
  const scene = await Scene.set(stack, [{ id: 'person', point: 'after_output' }]);
  const parked = await scene.text('outputs', secret);
  const handle = stack.client.workflow.getHandle(`text-gate:${stack.tenant}:${parked.body.id as string}`);
  const waitId = parked.body.pendingWaits[0].id as string;
  await handle.signal('resolveWait', { waitId, decision: 'allow', updatedText: 'edited' });
  await handle.signal('resolveWait', { waitId, decision: 'allow' });
  expect((await scene.readText('outputs', parked.body.id, 5)).body).toMatchObject({ text: secret });
});

test('while no worker runs a text is not let through, and is found at its address', async () => {
  const secret = newSecret();
  const idle = await startStack({ worker: false, decisionTimeoutMs: 300 });
  try {
    const scene = await Scene.set(idle, [{ id: 'person', point: 'before_input' }]);
    const told = await scene.text('inputs', secret);
    expect(told.status).toBe(504);
    const location = told.headers.get('location')!;
    expect((await scene.agent.get(location)).body).toMatchObject({ status: 'waiting', pendingWaits: [] });
    await idle.startWorker();
    const read = await scene.agent.get(location, { prefer: 'wait=5' });
    expect(JSON.stringify(read.body)).not.toContain(secret);
  } finally {
    await idle.stop();
  }
});
