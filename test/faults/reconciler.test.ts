import { callWorkflowId } from '../../src/domain/call';
import { connectRedis } from '../../src/store/connection';
import { keyspaceOf } from '../../src/store/keyspace';
import { testServices } from '../support/services';
import { expectOneOutcome, FINISHED, PARKED, RESOLVED } from './one-outcome';
import { playScene, type Scene } from './scene';
import { scenarios } from './scenarios';
import { eventually, park, reportOutput, resolve, untilTold, type Parked } from './told';

/** What no message can repair is found by the scheduled reconciler, which leaves the last minute alone. */
const ALLOW = { decision: 'allow', key: 'k1' } as const;
const NOTHING = { started: 0, closed: 0, asked: 0, cancelled: 0, swept: 0 };
const DENIED_BY_END = { by: 'cancelled', reason: { code: 'workflow_ended' } };

function terminate({ client, tenant }: Scene, { callId }: Parked): Promise<unknown> {
  return client.workflow.getHandle(callWorkflowId(tenant, callId)).terminate('by a person');
}

scenarios(
  'the wait of a terminated workflow is closed as cancelled, with its audit, once it is a minute old',
  () =>
    playScene({ hooks: [{}] }, async (scene) => {
      const { agent, ann, calls } = scene;
      await scene.worker();
      const parked = await park(agent, calls);
      await terminate(scene, parked);
      expect(await scene.reconcile(50_000)).toEqual(NOTHING);
      expect((await ann.get('/v1/waits')).body).toMatchObject({ items: [{ id: parked.waitId }] });
      expect((await resolve(ann, parked, ALLOW)).status).toBe(410);

      expect(await scene.reconcile()).toEqual({ ...NOTHING, closed: 1 });
      expect(await scene.reconcile()).toEqual(NOTHING);
      expect((await resolve(ann, parked, ALLOW)).status).toBe(410);
      const events = await expectOneOutcome(scene, parked.location, {
        status: 'cancelled',
        denial: { ...DENIED_BY_END, executed: false },
        events: [...PARKED, ...RESOLVED, 'tool_call_finished'],
      });
      expect(events.find(({ type }) => type === 'hook_decision')?.data).toMatchObject({
        outcome: 'cancelled',
        decision: 'deny',
      });
    }),
);

scenarios(
  'an allowed call whose workflow was terminated ends as cancelled, and says that its tool may have run',
  () =>
    playScene({ hooks: [{}] }, async (scene) => {
      const { agent, ann, calls } = scene;
      await scene.worker();
      const parked = await park(agent, calls);
      await untilTold(() => resolve(ann, parked, ALLOW));
      await terminate(scene, parked);
      expect(await scene.reconcile()).toEqual({ ...NOTHING, closed: 1 });
      expect((await reportOutput(agent, parked.location)).status).toBe(409);
      await expectOneOutcome(scene, parked.location, {
        status: 'cancelled',
        denial: { ...DENIED_BY_END, executed: 'unknown' },
        events: [...PARKED, ...RESOLVED, 'tool_call_finished', 'tool_finished'],
      });
    }),
);

scenarios('a wait that the store lost is published again, and resolves', () =>
  playScene({ hooks: [{}] }, async (scene) => {
    const { agent, ann, calls } = scene;
    await scene.worker();
    const parked = await park(agent, calls);
    await loseCall(scene, parked);
    expect((await ann.get('/v1/waits')).body).toMatchObject({ items: [] });
    expect((await resolve(ann, parked, ALLOW)).status).toBe(404);
    expect((await agent.get(parked.location)).status).toBe(202);

    expect(await scene.reconcile(30_000)).toEqual(NOTHING);
    expect(await scene.reconcile()).toEqual({ ...NOTHING, asked: 1 });
    await eventually(async () => {
      expect((await ann.get('/v1/waits')).body).toMatchObject({ items: [{ id: parked.waitId }] });
    });
    expect((await ann.get('/v1/threads?state=waiting')).body).toMatchObject({
      items: [{ id: scene.threadId }],
    });
    await untilTold(() => resolve(ann, parked, ALLOW));
    await untilTold(() => reportOutput(agent, parked.location));
    await expectOneOutcome(scene, parked.location, {
      status: 'completed',
      events: [...PARKED, ...RESOLVED, ...FINISHED],
    });
  }),
);

scenarios('a call that was left open in a closed thread is cancelled', () =>
  playScene({ hooks: [{}] }, async (scene) => {
    const { agent, ann, calls, store, threadId } = scene;
    await scene.worker();
    const parked = await park(agent, calls);
    // As a Nexus that was killed before it told the workflows.
    await store.threads.close(threadId, { by: 'agent', at: new Date().toISOString() });
    expect(await scene.reconcile(50_000)).toEqual(NOTHING);
    expect(await scene.reconcile()).toEqual({ ...NOTHING, cancelled: 1 });
    expect((await resolve(ann, parked, ALLOW)).status).toBe(410);
    await expectOneOutcome(scene, parked.location, {
      status: 'cancelled',
      denial: { by: 'cancelled', reason: { code: 'thread_closed' } },
      events: [...PARKED, 'thread_closed', ...RESOLVED, 'tool_call_finished'],
    });
  }),
);

/** Takes everything of the call out of the store but its events. */
async function loseCall({ tenant, threadId }: Scene, { callId, waitId }: Parked): Promise<void> {
  const redis = await connectRedis(testServices().redisUrl, { onError: () => undefined });
  const keys = keyspaceOf(tenant);
  await redis.del([
    keys.call(callId),
    keys.wait(waitId),
    keys.threadWaits(threadId),
    keys.threadOpenCalls(threadId),
  ]);
  await redis.del([keys.threadCalls(threadId), keys.waits, keys.threadsWaiting, keys.callsOpen]);
  await redis.close();
}
