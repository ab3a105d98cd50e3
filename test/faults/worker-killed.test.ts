import { playScene, type Scene } from './scene';
import { expectOneOutcome, FINISHED, PARKED, RESOLVED } from './one-outcome';
import { scenarios } from './scenarios';
import { askToPay, park, reportOutput, resolve, untilTold } from './told';

/**
 * kill -9 of the worker between any two steps of a call. The worker that takes over is another process, which has
 * nothing but the histories in Temporal and the steps in the store.
 */
const ONE_HOOK = { hooks: [{}] };
const WHOLE = [...PARKED, ...RESOLVED, ...FINISHED];

/** A whole call whose worker dies at the point. */
async function wholeCall(scene: Scene, crashAt: string): Promise<void> {
  const { agent, ann, calls } = scene;
  const first = await scene.worker(crashAt);
  const successor = first.ended.then((signal) => {
    expect(signal).toBe('SIGKILL');
    return scene.worker();
  });
  const parked = await park(agent, calls);
  const answer = { decision: 'allow', key: 'k1' } as const;
  const resolved = await untilTold(() => resolve(ann, parked, answer));
  expect(resolved).toMatchObject({ status: 200, body: { status: 'resolved', outcome: { by: ['ann'] } } });
  const done = await untilTold(() => reportOutput(agent, parked.location));
  expect(done).toMatchObject({ status: 200, body: { status: 'completed', output: { paid: 100 } } });
  await successor;

  expect((await resolve(ann, parked, answer)).body).toEqual(resolved.body);
  expect((await askToPay(agent, calls, 'the-call')).body).toEqual(done.body);
  await expectOneOutcome(scene, parked.location, { status: 'completed', events: WHOLE });
}

for (const moment of ['before', 'after'] as const) {
  for (const [n, what] of [
    [1, 'the call is parked'],
    [2, 'its wait is resolved'],
    [3, 'its output is kept'],
  ] as const) {
    scenarios(`a worker killed ${moment} the store has that ${what} changes nothing`, () =>
      playScene(ONE_HOOK, (scene) => wholeCall(scene, `${moment}-commitStep:${n}`)),
    );
  }
}

for (const moment of ['before', 'after'] as const) {
  scenarios(`a worker killed ${moment} the store has a second wait opens that wait once`, () =>
    playScene({ hooks: [{}, {}] }, async (scene) => {
      const { agent, ann, calls } = scene;
      const worker = await scene.worker(`${moment}-commitStep:2`);
      void worker.ended.then(() => scene.worker());
      const first = await park(agent, calls);
      await untilTold(() => resolve(ann, first, { decision: 'defer', key: 'k1' }));
      const second = await park(agent, calls);
      expect(second.waitId).not.toBe(first.waitId);
      await untilTold(() => resolve(ann, second, { decision: 'deny', key: 'k2' }));
      await expectOneOutcome(scene, first.location, {
        status: 'denied',
        denial: { by: 'human', hookId: 'gate-2' },
        events: [...PARKED, ...RESOLVED, 'wait_opened', ...RESOLVED, 'tool_call_finished'],
      });
    }),
  );

  scenarios(`a worker killed ${moment} the store has a time-out tells it all the same, once`, () =>
    playScene({ hooks: [{ asyncTimeoutMs: 1_000 }] }, async (scene) => {
      const { agent, ann, calls } = scene;
      const worker = await scene.worker(`${moment}-commitStep:2`);
      const parked = await park(agent, calls);
      expect(await worker.ended).toBe('SIGKILL');
      await scene.worker();
      const call = await agent.get(parked.location, { Prefer: 'wait=30' });
      expect(call.body).toMatchObject({ status: 'denied', denial: { by: 'timeout' } });
      const late = await untilTold(() => resolve(ann, parked, { decision: 'allow', key: 'k1' }));
      expect(late.status).toBe(410);
      await expectOneOutcome(scene, parked.location, {
        status: 'denied',
        events: [...PARKED, ...RESOLVED, 'tool_call_finished'],
      });
    }),
  );

  scenarios(`a worker killed ${moment} the store has that a call is given up cancels it once`, () =>
    playScene({ hooks: [{}] }, async (scene) => {
      const { agent, ann, calls } = scene;
      const worker = await scene.worker(`${moment}-commitStep:2`);
      void worker.ended.then(() => scene.worker());
      const parked = await park(agent, calls);
      const given = await untilTold(() => agent.delete(parked.location));
      expect(given).toMatchObject({ status: 200, body: { status: 'cancelled' } });
      expect((await resolve(ann, parked, { decision: 'allow', key: 'k1' })).status).toBe(410);
      await expectOneOutcome(scene, parked.location, {
        status: 'cancelled',
        denial: { by: 'cancelled', executed: false },
        events: [...PARKED, ...RESOLVED, 'tool_call_finished'],
      });
    }),
  );
}
