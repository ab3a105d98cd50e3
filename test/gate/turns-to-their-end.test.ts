import { randomUUID } from 'node:crypto';
import { createTurnWorkflows } from '../../src/activities/call-workflows';
import { reconcileTurns } from '../../src/activities/reconcile-turns';
import { startModelServer, type ModelServer } from '../support/model-server';
import { agentScene, callsOf } from '../support/agent-scene';
import { Scene } from '../support/scene';
import { startStack, type Stack } from '../support/stack';

let stack: Stack;
let model: ModelServer;

beforeAll(async () => {
  stack = await startStack();
  model = await startModelServer();
});
afterAll(async () => {
  await stack.stop();
  await model.close();
});

const lastMessages = (): { role: string; content: string | null }[] => model.asked.at(-1)!.body.messages;
test('a long turn goes on in a new run, and loses neither a step nor a cancellation', async () => {
  let steps = 0;
  model.script(() => {
    steps += 1;
    return steps <= 90 ? { calls: [['unknown', { steps }]] } : { text: 'At last.' };
  });
  const scene = await agentScene({ stack, model }, [], { maxSteps: 100 });
  const made = await scene.turn('x');
  const done = await scene.readTurn(made.body.id, 60);
  expect(done.body).toMatchObject({ status: 'completed', text: 'At last.', steps: 91 });
  const results = lastMessages().filter(({ role }) => role === 'tool');
  expect(results).toHaveLength(90);
  const handle = stack.client.workflow.getHandle(`turn:${stack.tenant}:${made.body.id as string}`);
  const { runId, raw } = await handle.describe();
  expect(raw.workflowExecutionInfo?.firstRunId).not.toBe(runId);

  model.script(async () => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    return { calls: [['unknown', {}]] };
  });
  const endless = await scene.turn('y');
  while ((await scene.readTurn(endless.body.id)).body.steps < 85)
    await new Promise((resolve) => setTimeout(resolve, 50));
  const gone = await scene.agent.delete(`/v1/threads/${scene.threadId}/turns/${endless.body.id as string}`);
  expect(gone.body).toMatchObject({ status: 'cancelled' });
}, 120_000);

test('a turn that is given up stops the model and every call, and leaves no wait', async () => {
  model.script(() => ({
    calls: [
      ['pay', { n: 1 }],
      ['pay', { n: 2 }],
      ['files_read', {}],
    ],
  }));
  const scene = await agentScene({ stack, model }, [{ id: 'person', tools: ['pay'] }]);
  const made = await scene.turn('x');
  await callsOf(scene, 'waiting', 2);
  const gone = await scene.agent.delete(`/v1/threads/${scene.threadId}/turns/${made.body.id as string}`);
  expect(gone.body).toMatchObject({ status: 'cancelled', denial: { by: 'cancelled' }, pendingWaits: [] });
  expect(await callsOf(scene, 'cancelled', 3)).toHaveLength(3);
  expect((await scene.thread()).body).toMatchObject({ state: 'idle', pendingWaits: [] });
  const again = await scene.agent.delete(`/v1/threads/${scene.threadId}/turns/${made.body.id as string}`);
  expect(again.body).toEqual(gone.body);

  let left = (): void => undefined;
  const hung = new Promise<void>((resolve) => (left = resolve));
  model.script((_, response) => {
    response.on('close', left);
    return undefined;
  });
  const slow = await scene.turn('y');
  while (!model.asked.at(-1)!.body.messages.some(({ content }: { content: string }) => content === 'y'))
    await new Promise((resolve) => setTimeout(resolve, 20));
  const stopped = await scene.agent.delete(`/v1/threads/${scene.threadId}/turns/${slow.body.id as string}`);
  expect(stopped.body).toMatchObject({ status: 'cancelled' });
  await hung;
});

test('closing a thread ends its turn', async () => {
  model.script(() => ({ calls: [['pay', {}]] }));
  const scene = await agentScene({ stack, model }, [{ id: 'person', tools: ['pay'] }]);
  const made = await scene.turn('x');
  await callsOf(scene, 'waiting', 1);
  expect((await scene.agent.delete(`/v1/threads/${scene.threadId}`)).status).toBe(200);
  expect((await scene.readTurn(made.body.id)).body).toMatchObject({ status: 'cancelled', pendingWaits: [] });
});

test('one turn at a time: a second one is refused, and a repeat under the key is the first', async () => {
  let free = (): void => undefined;
  const waiting = new Promise<void>((resolve) => (free = resolve));
  model.script(async () => {
    await waiting;
    return { text: 'Late.' };
  });
  const scene = await agentScene({ stack, model }, []);
  const made = await scene.turn('x', { 'idempotency-key': 'k' });
  const second = await scene.turn('y');
  expect(second.status).toBe(409);
  expect(second.body).toMatchObject({ type: '/problems/turn-running', turnId: made.body.id });
  const repeats = await Promise.all(
    Array.from({ length: 10 }, () => scene.turn('x', { 'idempotency-key': 'k' })),
  );
  expect(new Set(repeats.map(({ body }) => body.id))).toEqual(new Set([made.body.id]));
  expect((await scene.turn('other', { 'idempotency-key': 'k' })).status).toBe(422);
  free();
  expect((await scene.readTurn(made.body.id, 20)).body).toMatchObject({ status: 'completed' });
});

test('a profile without a model runs no turn, and later changes of the profile mean nothing for one that runs', async () => {
  const without = await Scene.set(stack, []);
  expect((await without.turn('x')).body).toMatchObject({ type: '/problems/no-model' });

  let free = (): void => undefined;
  const waiting = new Promise<void>((resolve) => (free = resolve));
  model.script(async () => {
    await waiting;
    return { calls: [['pay', { n: 1 }]] };
  });
  const scene = await agentScene({ stack, model }, []);
  const made = await scene.turn('x');
  const path = `/v1/profiles/${scene.profileId}`;
  const read = await scene.admin.get(path);
  const patched = await scene.admin.send(
    'PATCH',
    path,
    { configuration: { permissions: [{ id: 'none', effect: 'deny', tools: ['*'] }] } },
    { 'if-match': read.headers.get('etag')! },
  );
  expect(patched.status).toBe(200);
  free();
  const [call] = await callsOf(scene, 'allowed', 1);
  expect(call.profileVersion).toBe(1);
  await scene.agent.delete(`/v1/threads/${scene.threadId}/turns/${made.body.id as string}`);
});

test('a turn that was stored and never started is started, and one whose workflow was terminated is closed', async () => {
  model.script(() => ({ text: 'Started.' }));
  const workflows = createTurnWorkflows(stack.client.workflow, stack.taskQueue);
  const later = { now: Date.now() + 120_000, before: Date.now() + 60_000 };
  const scene = await agentScene({ stack, model }, [{ id: 'person', point: 'before_input' }]);
  const made = await scene.turn('x');
  const snapshot = (await stack.store.turns.read(made.body.id))!;
  const orphan = randomUUID();
  const thread = await scene.newThread();
  await stack.store.turns.create({
    ...snapshot,
    record: { ...snapshot.record, id: orphan, threadId: thread.threadId },
    start: {
      ...snapshot.start,
      turnId: orphan,
      threadId: thread.threadId,
      input: {
        ...snapshot.start.input,
        callId: `input-${orphan}`,
        threadId: thread.threadId,
        turnId: orphan,
      },
    },
  });
  await stack.client.workflow.getHandle(`turn:${stack.tenant}:${made.body.id as string}`).terminate();
  expect(await reconcileTurns(stack.store, workflows, later)).toEqual({ started: 1, closed: 1 });
  expect((await scene.readTurn(made.body.id)).body).toMatchObject({
    status: 'cancelled',
    denial: { reason: { code: 'workflow_ended' } },
  });
  const status = await stack.client.workflow.getHandle(`turn:${stack.tenant}:${orphan}`).describe();
  expect(status.status.name).toBe('RUNNING');
  await stack.client.workflow.getHandle(`turn:${stack.tenant}:${orphan}`).terminate();
});
