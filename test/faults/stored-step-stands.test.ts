import { setTimeout as sleep } from 'node:timers/promises';
import { expectOneOutcome, FINISHED, PARKED, RESOLVED } from './one-outcome';
import { playScene } from './scene';
import { scenarios } from './scenarios';
import { park, reportOutput, resolve, untilTold } from './told';

/**
 * The worker dies right after the store has a step, and what happens next would have another result: another answer
 * comes first, or the deadline has passed. What is stored is the outcome (transition.ts, T1 and T4).
 */
const ALLOW = { decision: 'allow', key: 'k1' } as const;
const DENY = { decision: 'deny', key: 'k2' } as const;
const DEADLINE_MS = 1_500;

scenarios('a stored allow stands when a deny comes before the worker that takes over', () =>
  playScene({ hooks: [{}] }, async (scene) => {
    const { agent, ann, bob, calls } = scene;
    const worker = await scene.worker('after-commitStep:2');
    const parked = await park(agent, calls);
    const annIsTold = untilTold(() => resolve(ann, parked, ALLOW));
    expect(await worker.ended).toBe('SIGKILL');

    const denied = await untilTold(() => resolve(bob, parked, DENY));
    expect(denied).toMatchObject({ status: 409, body: { outcome: { decision: 'allow', by: ['ann'] } } });
    await scene.worker();
    expect(await annIsTold).toMatchObject({ status: 200, body: { outcome: { decision: 'allow' } } });
    await untilTold(() => reportOutput(agent, parked.location));
    await expectOneOutcome(scene, parked.location, {
      status: 'completed',
      events: [...PARKED, ...RESOLVED, ...FINISHED],
    });
  }),
);

scenarios('the workflow itself refuses a deny that reaches it before the allow that is stored', () =>
  playScene({ hooks: [{}] }, async (scene) => {
    const { agent, ann, calls, client, tenant } = scene;
    const worker = await scene.worker('after-commitStep:2');
    const parked = await park(agent, calls);
    const annIsTold = untilTold(() => resolve(ann, parked, ALLOW));
    expect(await worker.ended).toBe('SIGKILL');

    // Signals are in the history before any update of the next task.
    await client.workflow
      .getHandle(`tool-call:${tenant}:${parked.callId}`)
      .signal('resolveWait', { waitId: parked.waitId, decision: 'deny' });
    await scene.worker();
    expect(await annIsTold).toMatchObject({ status: 200, body: { outcome: { decision: 'allow' } } });
    await untilTold(() => reportOutput(agent, parked.location));
    await expectOneOutcome(scene, parked.location, {
      status: 'completed',
      events: [...PARKED, ...RESOLVED, ...FINISHED],
    });
  }),
);

scenarios('a stored allow stands when its second try comes after the deadline', () =>
  playScene({ hooks: [{ asyncTimeoutMs: DEADLINE_MS }] }, async (scene) => {
    const { agent, ann, bob, calls } = scene;
    const worker = await scene.worker('after-commitStep:2');
    const parked = await park(agent, calls);
    const annIsTold = untilTold(() => resolve(ann, parked, ALLOW));
    expect(await worker.ended).toBe('SIGKILL');
    await sleep(DEADLINE_MS);
    await scene.worker();

    expect(await annIsTold).toMatchObject({
      status: 200,
      body: { outcome: { decision: 'allow', by: ['ann'] } },
    });
    expect(await untilTold(() => resolve(bob, parked, DENY))).toMatchObject({ status: 409 });
    await untilTold(() => reportOutput(agent, parked.location));
    await expectOneOutcome(scene, parked.location, {
      status: 'completed',
      events: [...PARKED, ...RESOLVED, ...FINISHED],
    });
  }),
);

const TIMED_OUT = {
  status: 'denied',
  denial: { by: 'timeout', reason: { code: 'approval_timeout' }, executed: false },
  events: [...PARKED, ...RESOLVED, 'tool_call_finished'],
} as const;

scenarios(
  'an answer that its worker took in time and did not store in time is a time-out for everybody',
  () =>
    playScene({ hooks: [{ asyncTimeoutMs: DEADLINE_MS }] }, async (scene) => {
      const { agent, ann, bob, calls } = scene;
      const worker = await scene.worker('before-commitStep:2');
      const parked = await park(agent, calls);
      const annIsTold = untilTold(() => resolve(ann, parked, ALLOW));
      expect(await worker.ended).toBe('SIGKILL');
      await sleep(DEADLINE_MS);
      await scene.worker();

      expect((await annIsTold).status).toBe(410);
      expect((await untilTold(() => resolve(bob, parked, DENY))).status).toBe(410);
      const events = await expectOneOutcome(scene, parked.location, TIMED_OUT);
      expect(events.find(({ type }) => type === 'wait_resolved')?.data).toMatchObject({ outcome: 'timeout' });
    }),
);

scenarios(
  'an answer sent in time while no worker ran until after the deadline is a time-out for everybody',
  () =>
    playScene({ hooks: [{ asyncTimeoutMs: DEADLINE_MS }] }, async (scene) => {
      const { agent, ann, bob, calls } = scene;
      const worker = await scene.worker();
      const parked = await park(agent, calls);
      await worker.kill();
      const annIsTold = untilTold(() => resolve(ann, parked, ALLOW));
      await sleep(DEADLINE_MS);
      await scene.worker();

      expect((await annIsTold).status).toBe(410);
      expect((await untilTold(() => resolve(bob, parked, DENY))).status).toBe(410);
      const events = await expectOneOutcome(scene, parked.location, TIMED_OUT);
      expect(events.find(({ type }) => type === 'wait_resolved')?.data).toMatchObject({ outcome: 'timeout' });
    }),
);

for (const moment of ['before', 'after'] as const) {
  scenarios(`no vote is lost or counted twice when the worker dies ${moment} the store has it`, () =>
    playScene({ hooks: [{ minApprovals: 2 }] }, async (scene) => {
      const { agent, ann, bob, calls } = scene;
      const worker = await scene.worker(`${moment}-commitStep:2`);
      const parked = await park(agent, calls);
      const annIsTold = untilTold(() => resolve(ann, parked, ALLOW));
      expect(await worker.ended).toBe('SIGKILL');
      const bobIsTold = untilTold(() => resolve(bob, parked, { decision: 'allow', key: 'k2' }));
      await scene.worker();

      const told = [await annIsTold, await bobIsTold].map(({ body }) => body.status as string);
      expect([...told].sort()).toEqual(['counted', 'resolved']);
      if (moment === 'after') expect(told).toEqual(['counted', 'resolved']);
      const again = await untilTold(() => resolve(ann, parked, ALLOW));
      expect(again.body).toEqual((await annIsTold).body);
      const events = await expectOneOutcome(scene, parked.location, {
        status: 'allowed',
        events: [...PARKED, 'wait_vote', ...RESOLVED],
      });
      expect(events.find(({ type }) => type === 'wait_vote')?.data).toMatchObject({ counted: 1, needed: 2 });
    }),
  );
}
