import { randomUUID } from 'node:crypto';
import { startModelServer, type ModelServer } from '../support/model-server';
import { decodedHistory } from '../support/decoded-history';
import { placesWith } from '../support/everywhere';
import { startReceiver, type Receiver } from '../support/receiver';
import { agentScene, callsOf } from '../support/agent-scene';
import type { Scene } from '../support/scene';
import { startStack, type Stack } from '../support/stack';

const newSecret = (): string => `SECRET-${randomUUID()}`;

let stack: Stack;
let model: ModelServer;
let receiver: Receiver;

beforeAll(async () => {
  stack = await startStack();
  model = await startModelServer();
  receiver = await startReceiver();
});
afterAll(async () => {
  await stack.stop();
  await model.close();
  await receiver.close();
});

const lastMessages = (): { role: string; content: string | null }[] => model.asked.at(-1)!.body.messages;

test('a turn without tools: the text reaches the model, and its answer the caller', async () => {
  model.script(() => ({ text: 'Good morning.' }));
  const scene = await agentScene({ stack, model }, []);
  const made = await scene.turn('Hello', { prefer: 'wait=20' });
  expect(made.status).toBe(200);
  expect(made.body).toMatchObject({ status: 'completed', text: 'Good morning.', steps: 1, toolCalls: [] });
  const [asked] = model.asked.slice(-1);
  expect(asked!.body).toMatchObject({
    model: 'scripted',
    messages: [
      { role: 'system', content: 'You are terse.' },
      { role: 'user', content: 'Hello' },
    ],
  });
  expect(asked!.body.tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual([
    'pay',
    'files_read',
    'mail_send',
  ]);
  expect(asked!.headers['authorization']).toBeUndefined();
  expect((await scene.events()).map(({ type }) => type)).toEqual([
    'thread_created',
    'turn_started',
    'text_started',
    'text_finished',
    'text_started',
    'text_finished',
    'turn_finished',
  ]);
  expect((await scene.readTurn(made.body.id)).body).toEqual(made.body);
  expect((await scene.agent.get(`/v1/threads/${scene.threadId}/turns`)).body.items).toEqual([made.body]);
  expect((await scene.thread()).body.state).toBe('idle');
});

test('three calls of one step: one allowed, one edited, one denied, told to the model in its order', async () => {
  model.script(({ body }) =>
    body.messages.some(({ role }: { role: string }) => role === 'tool')
      ? { text: 'Done.' }
      : {
          text: 'Working.',
          calls: [
            ['files_read', { path: 'a' }],
            ['pay', { amount: 900 }],
            ['mail_send', { to: 'x' }],
          ],
        },
  );
  receiver.behave(() => ({ decision: 'deny', reason: 'no mail' }));
  const scene = await agentScene({ stack, model }, [
    { id: 'person', tools: ['pay'] },
    { id: 'guard', tools: ['mail.send'], url: receiver.url },
  ]);
  const made = await scene.turn('Pay and tell them');
  expect(made.status).toBe(202);
  const [read] = await callsOf(scene, 'allowed', 1);
  const [parked] = await callsOf(scene, 'waiting', 1);
  expect((await scene.readTurn(made.body.id)).body).toMatchObject({
    status: 'waiting',
    pendingWaits: [{ callId: parked.id, tool: 'pay' }],
  });
  await scene.resolve(parked.pendingWaits[0].id, { decision: 'allow', updatedInput: { amount: 250 } });
  await scene.output(read.id, { output: { text: 'A' } });
  expect((await scene.output(parked.id, { output: { receipt: 'R-1' } })).body).toMatchObject({
    status: 'completed',
    input: { amount: 250 },
  });
  const done = await scene.readTurn(made.body.id, 20);
  expect(done.body).toMatchObject({ status: 'completed', text: 'Done.', steps: 2 });
  expect(done.body.toolCalls).toHaveLength(3);
  const tools = lastMessages().filter(({ role }) => role === 'tool');
  expect(tools.map(({ content }) => JSON.parse(content!))).toEqual([
    { status: 'completed', output: { text: 'A' } },
    { status: 'completed', output: { receipt: 'R-1' } },
    {
      status: 'denied',
      by: 'policy',
      reason: { code: 'denied_by_policy', text: 'no mail' },
      executed: false,
    },
  ]);
  const started = (await scene.events()).filter(({ type }) => type === 'tool_call_started');
  expect(started.map(({ data }) => data.turnId)).toEqual(Array(3).fill(made.body.id));
});

/** All that a stream of the thread's events sends to who may read everything. */
async function streamOf(scene: Scene): Promise<{ untilIncludes(text: string): Promise<string> }> {
  const gone = new AbortController();
  const response = await fetch(`${scene.approver.url}/v1/threads/${scene.threadId}/events`, {
    headers: { authorization: `Bearer ${scene.approver.token}`, accept: 'text/event-stream' },
    signal: gone.signal,
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  return {
    async untilIncludes(text) {
      let all = '';
      while (!all.includes(text)) {
        const { value, done } = await reader.read();
        if (done) throw new Error('the stream ended');
        all += value;
      }
      gone.abort();
      return all;
    },
  };
}

test('what the model says is shown to nobody before its verdict, and what is withheld is found nowhere', async () => {
  const secret = newSecret();
  model.script(({ body }) =>
    body.messages.some(({ role }: { role: string }) => role === 'tool')
      ? { text: `The answer is ${secret}` }
      : { text: `I think of ${secret}`, calls: [['pay', { amount: 1 }]] },
  );
  const scene = await agentScene({ stack, model }, [{ id: 'person', point: 'after_output' }]);
  const streamed = await streamOf(scene);
  const made = await scene.turn('What is it?');
  const [call] = await callsOf(scene, 'allowed', 1);
  await scene.output(call.id);
  let waiting = await scene.readTurn(made.body.id, 0, scene.agent);
  while (waiting.body.status !== 'waiting') waiting = await scene.readTurn(made.body.id);
  expect(JSON.stringify(waiting.body)).not.toContain(secret);
  const [wait] = waiting.body.pendingWaits;
  const seen = await scene.readTurn(made.body.id, 0, scene.approver);
  expect(seen.body.pendingWaits[0].value).toBe(`The answer is ${secret}`);
  await scene.resolve(wait.id, { decision: 'deny', reason: 'private' });
  const done = await scene.readTurn(made.body.id, 20);
  expect(done.body).toMatchObject({ status: 'denied', denial: { by: 'human', executed: true } });
  expect(done.body).not.toHaveProperty('text');
  expect(await placesWith(scene, wait.callId, secret)).toEqual([]);
  const told = await streamed.untilIncludes('turn_finished');
  expect(told).not.toContain(secret);
  expect(await placesWith(scene, call.id, secret)).toEqual([]);
  expect(await decodedHistory(stack, `turn:${made.body.id as string}`)).not.toContain(secret);

  // Nor do the model's later messages hold it.
  model.script(() => ({ text: 'Fine.' }));
  const next = await scene.turn('And now?');
  let parked = await scene.readTurn(next.body.id);
  while (parked.body.status !== 'waiting') parked = await scene.readTurn(next.body.id);
  expect(JSON.stringify(model.asked.at(-1)!.body)).not.toContain(secret);
  expect(lastMessages().map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
  ]);
  await scene.agent.delete(`/v1/threads/${scene.threadId}`);
});

test('a denied input never reaches the model; a rewritten one reaches it rewritten', async () => {
  const before = model.asked.length;
  receiver.behave(({ input }) =>
    input.text === 'bad' ? { decision: 'deny' } : { decision: 'allow', updatedText: 'mild' },
  );
  model.script(() => ({ text: 'Yes.' }));
  const scene = await agentScene({ stack, model }, [
    { id: 'guard', point: 'before_input', url: receiver.url },
  ]);
  const denied = await scene.turn('bad', { prefer: 'wait=20' });
  expect(denied.body).toMatchObject({
    status: 'denied',
    denial: { by: 'policy', executed: false },
    steps: 0,
  });
  expect(model.asked).toHaveLength(before);
  const turnIds = receiver.received.slice(-1).map(({ input }) => input.turnId);
  expect(turnIds).toEqual([denied.body.id]);
  expect((await scene.turn('harsh', { prefer: 'wait=20' })).body).toMatchObject({ status: 'completed' });
  expect(lastMessages().at(-1)).toEqual({ role: 'user', content: 'mild' });
});

test('a model that cannot be asked is asked again by Temporal, and then the turn fails with the reason', async () => {
  let failing = 1;
  model.script((_, response) => {
    if (failing > 0) {
      failing -= 1;
      response.writeHead(503).end('secret words');
      return undefined;
    }
    return { text: 'There.' };
  });
  const scene = await agentScene({ stack, model }, []);
  expect((await scene.turn('x', { prefer: 'wait=30' })).body).toMatchObject({ status: 'completed' });
  model.script((_, response) => {
    response.writeHead(401).end('secret words');
    return undefined;
  });
  const failed = await scene.turn('y', { prefer: 'wait=30' });
  expect(failed.body).toMatchObject({ status: 'failed', failure: { code: 'http_status' } });
  expect(JSON.stringify(failed.body)).not.toContain('secret words');
  expect((await scene.events()).at(-1)).toMatchObject({
    type: 'turn_finished',
    data: { status: 'failed', failure: { code: 'http_status' } },
  });
});

test('calls that cannot be made are told to the model, and are no calls', async () => {
  model.script(({ body }) =>
    body.messages.some(({ role }: { role: string }) => role === 'tool')
      ? { text: 'I see.' }
      : {
          calls: [
            ['unknown', {}],
            ['pay', '{"a":1,"a":2}'],
            ['pay', 'no json'],
            ['pay', '{"amount":12345678901234567890}'],
            ['__proto__', {}],
          ],
        },
  );
  const scene = await agentScene({ stack, model }, []);
  const done = await scene.turn('x', { prefer: 'wait=20' });
  expect(done.body).toMatchObject({ status: 'completed', toolCalls: [], steps: 2 });
  const results = lastMessages().filter(({ role }) => role === 'tool');
  expect(results.map(({ content }) => JSON.parse(content!).status)).toEqual(Array(5).fill('failed'));
  expect(results.map(({ content }) => JSON.parse(content!).executed)).toEqual(Array(5).fill(false));
});

test('a model that makes no end is stopped after maxSteps', async () => {
  model.script(() => ({ calls: [['unknown', {}]] }));
  const scene = await agentScene({ stack, model }, [], { maxSteps: 3 });
  const before = model.asked.length;
  const done = await scene.turn('x', { prefer: 'wait=20' });
  expect(done.body).toMatchObject({ status: 'failed', failure: { code: 'max_steps' }, steps: 3 });
  expect(model.asked).toHaveLength(before + 3);
});
