import { callWorkflowId } from '../../src/domain/call';
import { Scene, type SceneHook } from '../support/scene';
import { startStack, type Stack } from '../support/stack';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

async function parked(hook: Partial<SceneHook> = {}) {
  const scene = await Scene.set(stack, [{ id: 'gate', ...hook }]);
  const call = await scene.call('payments.transfer', { amount: 7 });
  const handle = stack.client.workflow.getHandle(callWorkflowId(stack.tenant, call.body.id));
  return { scene, callId: call.body.id as string, waitId: call.body.pendingWaits[0].id as string, handle };
}

/** What the Temporal UI shows as current details. */
async function currentDetails(handle: Awaited<ReturnType<typeof parked>>['handle']): Promise<string> {
  const metadata = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  return metadata.currentDetails ?? '';
}

async function detailsWith(
  handle: Awaited<ReturnType<typeof parked>>['handle'],
  text: string,
): Promise<string> {
  for (let look = 0; look < 100; look += 1) {
    const details = await currentDetails(handle);
    if (details.includes(text)) return details;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return currentDetails(handle);
}

test('a signal from the Temporal UI resolves a wait, with an edit, as the principal temporal-operator', async () => {
  const { scene, callId, waitId, handle } = await parked();
  await handle.signal('resolveWait', {
    waitId,
    decision: 'allow',
    updatedInput: { amount: 3 },
    reason: 'seen',
  });
  expect((await scene.read(callId, 5)).body).toMatchObject({ status: 'allowed', input: { amount: 3 } });
  const [resolved] = await scene.eventsOf(callId, 'wait_resolved');
  expect(resolved?.data).toMatchObject({ by: ['temporal-operator'], decision: 'allow', rewrote: true });
});

test('a signal counts where the hook names temporal-operator, and not where it names others', async () => {
  const named = await parked({ approvers: ['temporal-operator', 'carol'] });
  await named.handle.signal('resolveWait', { waitId: named.waitId, decision: 'deny' });
  expect((await named.scene.read(named.callId, 5)).body).toMatchObject({
    status: 'denied',
    denial: { by: 'human' },
  });

  const others = await parked({ approvers: ['carol'] });
  await others.handle.signal('resolveWait', { waitId: others.waitId, decision: 'allow' });
  expect(await detailsWith(others.handle, 'refused')).toMatch(/not\\_an\\_approver/);
  expect((await others.scene.read(others.callId)).body.status).toBe('waiting');
});

test('the tenant’s setting turns signals off for calls that start under it', async () => {
  const admin = await stack.as('root', ['admin']);
  const settings = await admin.get('/v1/settings');
  await admin.send('PUT', '/v1/settings', { ...settings.body, operatorSignal: false });
  const { scene, callId, waitId, handle } = await parked();
  await admin.send('PUT', '/v1/settings', settings.body);
  await handle.signal('resolveWait', { waitId, decision: 'allow' });
  expect(await detailsWith(handle, 'refused')).toMatch(/operator\\_signal\\_off/);
  expect((await scene.read(callId)).body.status).toBe('waiting');
});

test.each([
  [null],
  ['allow'],
  [{ decision: 'allow' }],
  [{ waitId: 'W', decision: 'Allow' }],
  [{ waitId: 'W', decison: 'deny' }],
  [{ waitId: 'W', decision: 'allow', principal: 'ceo' }],
  [{ waitId: 'other', decision: 'allow' }],
])('the signal %j resolves nothing and says why in the details', async (payload) => {
  const { scene, callId, waitId, handle } = await parked();
  await handle.signal('resolveWait', JSON.parse(JSON.stringify(payload).replace('"W"', `"${waitId}"`)));
  expect(await detailsWith(handle, 'refused')).toContain('signal was refused');
  expect((await scene.read(callId)).body.status).toBe('waiting');
});

test('cancelling the workflow in Temporal closes the wait with its audit, and the workflow is Canceled', async () => {
  const { scene, callId, waitId, handle } = await parked();
  await handle.cancel();
  expect((await scene.read(callId, 5)).body).toMatchObject({
    status: 'cancelled',
    denial: { by: 'cancelled' },
  });
  await expect(handle.result()).rejects.toThrow('cancelled');
  expect((await handle.describe()).status.name).toBe('CANCELLED');
  expect((await scene.thread()).body.pendingWaits).toEqual([]);
  expect((await scene.resolve(waitId, { decision: 'allow' })).status).toBe(410);
  const [decision] = await scene.eventsOf(callId, 'hook_decision');
  expect(decision?.data).toMatchObject({ outcome: 'cancelled', resolvedBy: ['temporal-operator'] });
});

test('the Temporal UI says at a glance what is asked, of whom, until when, and never the value', async () => {
  const { scene, callId, waitId, handle } = await parked({
    approvers: ['carol', 'temporal-operator'],
    minApprovals: 1,
  });
  const details = await currentDetails(handle);
  for (const text of ['Waiting for a person', 'payments.transfer', 'gate', 'carol', waitId, 'Until: 20']) {
    expect(details).toContain(text);
  }
  expect(details).not.toContain('amount');
  const { raw } = await handle.describe();
  const description = await handle.describe();
  expect(await description.staticSummary()).toBe('payments.transfer for agent · gate');
  expect(Object.keys(raw.workflowExecutionInfo?.searchAttributes?.indexedFields ?? {}).sort()).toEqual(
    expect.arrayContaining([
      'PortcullisOwner',
      'PortcullisProfile',
      'PortcullisStatus',
      'PortcullisTenant',
      'PortcullisThread',
      'PortcullisTool',
    ]),
  );
  await handle.signal('resolveWait', { waitId, decision: 'deny', reason: 'no' });
  await scene.read(callId, 5);
  await handle.result();
  expect(await currentDetails(handle)).toContain('Denied by: human');
});

test('a history holds no more than one park needs', async () => {
  const { scene, callId, waitId, handle } = await parked();
  await scene.resolve(waitId, { decision: 'allow' });
  await scene.output(callId);
  await handle.result();
  const { events } = await handle.fetchHistory();
  expect(events?.length).toBeLessThanOrEqual(26);
});
