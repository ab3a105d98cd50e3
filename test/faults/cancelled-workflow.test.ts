import { callWorkflowId } from '../../src/domain/call';
import { callStateQuery } from '../../src/workflows/messages';
import { expectOneOutcome, PARKED, RESOLVED } from './one-outcome';
import { playScene } from './scene';
import { scenarios } from './scenarios';
import { eventually, park, resolve, untilTold } from './told';

/** Somebody cancels the workflow in the Temporal UI while a message to it is on its way. */
for (const signal of ['resolveWait', 'catchUp'] as const) {
  scenarios(`a cancel that meets the signal ${signal} in one task leaves no wait and one outcome`, () =>
    playScene({ hooks: [{}] }, async (scene) => {
      const { agent, calls, client, tenant } = scene;
      const worker = await scene.worker();
      const parked = await park(agent, calls);
      const workflow = client.workflow.getHandle(callWorkflowId(tenant, parked.callId));
      // Answered once the task that parked the call is over; what comes then is handled in the order in which it came.
      await workflow.query(callStateQuery);
      await worker.kill();
      await workflow.signal(signal, { waitId: parked.waitId, decision: 'allow' });
      await workflow.cancel();
      await scene.worker();

      await eventually(async () => {
        expect((await workflow.describe()).status.name).toBe('CANCELLED');
      });
      await expectOneOutcome(scene, parked.location, {
        status: 'cancelled',
        denial: { by: 'cancelled', executed: signal === 'resolveWait' ? 'unknown' : false },
        events: [...PARKED, ...RESOLVED, 'tool_call_finished'],
      });
    }),
  );
}

scenarios('an answer that meets a cancel is told what the store then says', () =>
  playScene({ hooks: [{}] }, async (scene) => {
    const { agent, ann, calls, client, tenant } = scene;
    const worker = await scene.worker();
    const parked = await park(agent, calls);
    await worker.kill();
    const told = untilTold(() => resolve(ann, parked, { decision: 'allow', key: 'k1' }));
    await client.workflow.getHandle(callWorkflowId(tenant, parked.callId)).cancel();
    await scene.worker();

    const { status } = await told;
    expect([200, 410]).toContain(status);
    await eventually(async () => {
      expect((await agent.get(parked.location)).body).toMatchObject({ status: 'cancelled' });
    });
    await expectOneOutcome(scene, parked.location, {
      status: 'cancelled',
      denial: { executed: status === 200 ? 'unknown' : false },
      events: [...PARKED, ...RESOLVED, 'tool_call_finished'],
    });
  }),
);
