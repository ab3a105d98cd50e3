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
