import { setTimeout as sleep } from 'node:timers/promises';
import { callStateQuery } from '../../src/workflows/messages';
import { callWorkflowId } from '../../src/domain/call';
import { expectOneOutcome, FINISHED, PARKED, RESOLVED } from './one-outcome';
import { playOnOwnServers } from './private-servers';
import type { Approval, Scene } from './scene';
import { scenarios } from './scenarios';
import {
  askToPay,
  eventually,
  expectAddressed,
  park,
  parkedAt,
  reportOutput,
  resolve,
  untilTold,
  type Parked,
} from './told';

/** Temporal is SIGKILLed and started again on its data; what it held in memory only, such as an update, is lost. */
const ALLOW = { decision: 'allow', key: 'k1' } as const;
const WHOLE = { status: 'completed', events: [...PARKED, ...RESOLVED, ...FINISHED] } as const;
/** Nexus gives up early, so that it does not send again what a restart loses. */
const IMPATIENT = { decisionTimeoutMs: 1_000 };

async function finish({ agent, ann }: Scene, parked: Parked): Promise<void> {
  const resolved = await untilTold(() => resolve(ann, parked, ALLOW));
  expect(resolved).toMatchObject({ status: 200, body: { outcome: { decision: 'allow', by: ['ann'] } } });
  const done = await untilTold(() => reportOutput(agent, parked.location));
  expect(done).toMatchObject({ status: 200, body: { status: 'completed' } });
}

scenarios('a call is decided although Temporal restarted between its start and its first task', () =>
  playOnOwnServers({ hooks: [{}], ...IMPATIENT }, async (scene, servers) => {
    const { agent, calls } = scene;
    const undecided = await askToPay(agent, calls, 'the-call');
    expect(undecided.status).toBe(504);
    expectAddressed(undecided);
    const location = undecided.headers.get('location') ?? '';
    expect(await agent.get(location)).toMatchObject({ status: 202, body: { status: 'waiting' } });

    await servers.kill('temporal');
    const away = await agent.get(location);
    expect([503, 504]).toContain(away.status);
    expectAddressed(away);
    await servers.start('temporal');
    expect((await untilTold(() => agent.get(location))).status).toBe(202);

    // Nobody repeats the request: the update of before the restart is gone, and no new one is sent.
    await scene.worker();
    const parked = await eventually(async () => {
      const call = await agent.get(location);
      expect(call).toMatchObject({ status: 202, body: { status: 'waiting', pendingWaits: [{}] } });
      return parkedAt(call);
    });
    await finish(scene, parked);
    await expectOneOutcome(scene, location, WHOLE);
  }),
);

scenarios('a request under way is answered although Temporal restarts before its first task', () =>
  playOnOwnServers({ hooks: [{}] }, async (scene, servers) => {
    const { agent, calls } = scene;
    const parking = park(agent, calls);
    await sleep(300);
    await servers.restart('temporal');
    await scene.worker();
    const parked = await parking;
    expect((await agent.get(calls)).body.items).toHaveLength(1);
    await finish(scene, parked);
    await expectOneOutcome(scene, parked.location, WHOLE);
  }),
);

scenarios('a parked call is resolved after Temporal restarted under it', () =>
  playOnOwnServers({ hooks: [{}] }, async (scene, servers) => {
    const { agent, calls } = scene;
    await scene.worker();
    const parked = await park(agent, calls);
    await servers.restart('temporal');
    await finish(scene, parked);
    await expectOneOutcome(scene, parked.location, WHOLE);
  }),
);

scenarios('while Temporal is away nobody is told a decision, and everybody where the call is found', () =>
  playOnOwnServers({ hooks: [{}], ...IMPATIENT }, async (scene, servers) => {
    const { agent, ann, calls } = scene;
    await scene.worker();
    const parked = await park(agent, calls);
    await servers.kill('temporal');
    const refused = [await resolve(ann, parked, ALLOW), await agent.delete(parked.location)];
    const other = await askToPay(agent, calls, 'other-call');
    for (const answer of [...refused, other]) {
      expect([503, 504]).toContain(answer.status);
      expectAddressed(answer);
    }
    expect(await agent.get(parked.location)).toMatchObject({ status: 202, body: { status: 'waiting' } });
    await servers.start('temporal');
    await finish(scene, parked);
    await expectOneOutcome(scene, parked.location, WHOLE);
  }),
);

/** A worker stores Ann's allow and dies; Temporal forgets her update; she does not come again until `play`. */
async function loseTheUpdate(
  options: { hooks?: readonly Approval[]; outputTimeoutMs?: number },
  play: (scene: Scene, parked: Parked, stepOfWorkflow: () => Promise<number>) => Promise<void>,
): Promise<void> {
  await playOnOwnServers({ hooks: [{}], ...IMPATIENT, ...options }, async (scene, servers) => {
    const { agent, ann, calls, client, tenant } = scene;
    const worker = await scene.worker('after-commitStep:2');
    const parked = await park(agent, calls);
    const undecided = await resolve(ann, parked, ALLOW);
    expect(undecided.status).toBe(504);
    expectAddressed(undecided);
    expect(await worker.ended).toBe('SIGKILL');
    await servers.restart('temporal');
    await scene.worker();
    const workflow = client.workflow.getHandle(callWorkflowId(tenant, parked.callId));
    const step = async (): Promise<number> => (await workflow.query(callStateQuery)).n;
    expect(await eventually(step)).toBe(1);
    await play(scene, parked, step);
  });
}

scenarios('a stored outcome whose message was lost is adopted when the caller reports its output', () =>
  loseTheUpdate({}, async (scene, parked) => {
    expect((await scene.agent.get(parked.location)).body).toMatchObject({ status: 'allowed' });
    const done = await untilTold(() => reportOutput(scene.agent, parked.location));
    expect(done).toMatchObject({ status: 200, body: { status: 'completed', output: { paid: 100 } } });
    const again = await resolve(scene.ann, parked, ALLOW);
    expect(again).toMatchObject({ status: 200, body: { outcome: { decision: 'allow', by: ['ann'] } } });
    await expectOneOutcome(scene, parked.location, WHOLE);
  }),
);

scenarios('a stored vote whose message was lost counts when the other voter comes, and only once', () =>
  loseTheUpdate({ hooks: [{ minApprovals: 2 }] }, async (scene, parked) => {
    const { ann, bob } = scene;
    const resolved = await untilTold(() => resolve(bob, parked, { decision: 'allow', key: 'k2' }));
    expect(resolved).toMatchObject({ status: 200, body: { outcome: { by: ['ann', 'bob'] } } });
    expect((await resolve(ann, parked, ALLOW)).body).toMatchObject({ status: 'counted', counted: 1 });
    await untilTold(() => reportOutput(scene.agent, parked.location));
    await expectOneOutcome(scene, parked.location, {
      status: 'completed',
      events: [...PARKED, 'wait_vote', ...RESOLVED, ...FINISHED],
    });
  }),
);

scenarios('a stored outcome whose message was lost is adopted when the workflow is asked to catch up', () =>
  loseTheUpdate({}, async (scene, parked, stepOfWorkflow) => {
    await scene.client.workflow.getHandle(callWorkflowId(scene.tenant, parked.callId)).signal('catchUp');
    await eventually(async () => expect(await stepOfWorkflow()).toBe(2));
    await finish(scene, parked);
    await expectOneOutcome(scene, parked.location, WHOLE);
  }),
);

scenarios(
  'an allowed call whose message was lost expires in its time all the same: the reconciler asks',
  () =>
    loseTheUpdate({ outputTimeoutMs: 1_000 }, async (scene, parked) => {
      await sleep(1_000);
      expect(await scene.reconcile()).toMatchObject({ asked: 1, closed: 0, cancelled: 0 });
      await eventually(async () => {
        expect((await scene.agent.get(parked.location)).body).toMatchObject({ status: 'expired' });
      });
      await expectOneOutcome(scene, parked.location, {
        status: 'expired',
        events: [...PARKED, ...RESOLVED, 'tool_call_finished'],
      });
    }),
);
