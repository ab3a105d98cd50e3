import { createCallWorkflows, createTurnWorkflows } from '../../src/activities/call-workflows';
import { reconcileTenant } from '../../src/activities/reconcile-tenant';
import { callWorkflowId } from '../../src/domain/call';
import { createClient } from 'redis';
import { placesWith } from '../support/everywhere';
import { Scene } from '../support/scene';
import { testServices } from '../support/services';
import { startStack, type Stack } from '../support/stack';

const SECRET = 'SECRET-value-0815';

let stack: Stack;
beforeAll(async () => (stack = await startStack()));
afterAll(() => stack.stop());

/** One pass of the reconciler, as it would be a minute from now. */
const reconcile = () =>
  reconcileTenant(
    {
      stores: stack.stores,
      workflows: createCallWorkflows(stack.client.workflow, stack.taskQueue),
      turnWorkflows: createTurnWorkflows(stack.client.workflow, stack.taskQueue),
    },
    { tenant: stack.tenant, now: Date.now() + 61_000, onProgress: () => undefined },
  );

const isKept = async (callId: string, blob: string): Promise<boolean> =>
  (await stack.store.blobs.find(callId, { kind: 'blob', digest: '', blob })) !== undefined;

test('values that nothing refers to are swept once their call cannot take them up any more', async () => {
  const scene = await Scene.set(stack, [{ id: 'person' }]);
  const open = (await scene.call('t', 'x'.repeat(100_000))).body.id as string;
  const ended = (await scene.call('t', 'y'.repeat(100_000))).body.id as string;
  await scene.agent.delete(`/v1/threads/${scene.threadId}/tool-calls/${ended}`);
  for (const callId of [open, ended, 'never-started']) {
    await stack.store.blobs.write(callId, 'output-left', SECRET);
  }
  expect(await reconcile()).toMatchObject({ swept: 2, closed: 0 });
  expect([
    await isKept(open, 'output-left'),
    await isKept(ended, 'output-left'),
    await isKept('never-started', 'output-left'),
  ]).toEqual([true, false, false]);
  expect(await reconcile()).toMatchObject({ swept: 0 });
  // What steps took up is not touched: both inputs are large and travel as blobs.
  expect(
    (await scene.approver.get(`/v1/threads/${scene.threadId}/tool-calls/${ended}`)).body.input,
  ).toHaveLength(100_000);
  expect(
    (await scene.approver.get(`/v1/threads/${scene.threadId}/tool-calls/${open}`)).body.input,
  ).toHaveLength(100_000);

  await scene.agent.delete(`/v1/threads/${scene.threadId}/tool-calls/${open}`);
  expect(await reconcile()).toMatchObject({ swept: 1 });
});

test('an output that is judged when its workflow is terminated is gone when the reconciler has closed the call', async () => {
  const scene = await Scene.set(stack, [{ id: 'person', point: 'after_tool_call' }]);
  const made = await scene.call('t', {});
  expect((await scene.output(made.body.id, { output: SECRET })).status).toBe(202);
  await stack.client.workflow.getHandle(callWorkflowId(stack.tenant, made.body.id)).terminate();
  expect(await reconcile()).toMatchObject({ closed: 1 });
  expect((await scene.read(made.body.id)).body).toMatchObject({
    status: 'cancelled',
    denial: { executed: true, reason: { code: 'workflow_ended' } },
  });
  expect(await placesWith(scene, made.body.id, SECRET)).toEqual([]);
});

test('a young value is left alone', async () => {
  await stack.store.blobs.write('never-started', 'output-young', SECRET);
  const report = await reconcileTenant(
    {
      stores: stack.stores,
      workflows: createCallWorkflows(stack.client.workflow, stack.taskQueue),
      turnWorkflows: createTurnWorkflows(stack.client.workflow, stack.taskQueue),
    },
    { tenant: stack.tenant, now: Date.now() + 50_000, onProgress: () => undefined },
  );
  expect(report.swept).toBe(0);
  expect(await isKept('never-started', 'output-young')).toBe(true);
});

test('a text whose workflow is terminated is closed and deleted by the reconciler', async () => {
  const scene = await Scene.set(stack, [{ id: 'person', point: 'after_output' }]);
  const text = 'SECRET-text-4242';
  const made = await scene.text('outputs', text);
  expect(made.status).toBe(202);
  await stack.client.workflow.getHandle(callWorkflowId(stack.tenant, made.body.id)).terminate();
  expect(await reconcile()).toMatchObject({ closed: 1 });
  expect((await scene.readText('outputs', made.body.id)).body).toMatchObject({
    status: 'cancelled',
    pendingWaits: [],
    denial: { reason: { code: 'workflow_ended' } },
  });
  expect(await placesWith(scene, made.body.id, text)).toEqual([]);
});

test('a running text that the store has lost is published again', async () => {
  const scene = await Scene.set(stack, [{ id: 'person', point: 'before_input' }]);
  const made = await scene.text('inputs', 'kept');
  const before = (await scene.readText('inputs', made.body.id)).body;
  const redis = createClient({ url: testServices().redisUrl });
  await redis.connect();
  await redis.del(`pc:{${stack.tenant}}:call:${made.body.id as string}`);
  await redis.zRem(`pc:{${stack.tenant}}:calls:open`, made.body.id as string);
  await redis.close();
  expect((await reconcile()).asked).toBeGreaterThanOrEqual(1);
  const back = await scene.readText('inputs', made.body.id, 5);
  expect(back.body).toMatchObject({ id: before.id, status: 'waiting' });
});
