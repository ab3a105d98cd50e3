import type { Answer } from '../support/api';
import { Api } from '../support/api';
import type { ChildProgram } from './child-program';
import { expectOneOutcome, FINISHED, PARKED, RESOLVED } from './one-outcome';
import { playScene, type Scene } from './scene';
import { scenarios } from './scenarios';
import { askToPay, eventually, park, reportOutput, resolve, untilTold } from './told';

/**
 * kill -9 of Nexus in the middle of a request. Its client gets no answer, and repeats the request under the same
 * Idempotency-Key at another Nexus.
 */
const ALLOW = { decision: 'allow', key: 'k1' } as const;
const WHOLE = { status: 'completed', events: [...PARKED, ...RESOLVED, ...FINISHED] } as const;

/** The same client at the Nexus that is about to die. */
const at = ({ url }: ChildProgram, { token }: Api): Api => new Api(url, token);

async function unanswered(nexus: ChildProgram, request: Promise<Answer>): Promise<void> {
  await expect(request).rejects.toThrow('no answer');
  expect(await nexus.ended).toBe('SIGKILL');
}

async function finishes({ agent, ann, calls }: Scene, key: string): Promise<string> {
  const parked = await park(agent, calls, key);
  await untilTold(() => resolve(ann, parked, ALLOW));
  const done = await untilTold(() => reportOutput(agent, parked.location));
  expect(done).toMatchObject({ status: 200, body: { status: 'completed' } });
  return parked.location;
}

for (const moment of ['before', 'amid', 'after'] as const) {
  scenarios(
    `a call whose Nexus was killed ${moment} the start of its workflow is one call when repeated`,
    () =>
      playScene({ hooks: [{}] }, async (scene) => {
        const { agent, calls } = scene;
        const nexus = await scene.nexus(`${moment}-decide:1`);
        // While no worker runs, what was sent stays unanswered until Nexus is dead.
        if (moment === 'after') await scene.worker();
        const asking = askToPay(at(nexus, agent), calls, 'the-call');
        if (moment === 'after') {
          // The store tells the outcome before the workflow service does, so there may have been time for the answer.
          const told = await asking.catch(() => undefined);
          expect(told?.status ?? 202).toBe(202);
          expect(await nexus.ended).toBe('SIGKILL');
        } else {
          await unanswered(nexus, asking);
          await scene.worker();
        }

        const location = await finishes(scene, 'the-call');
        expect((await agent.get(calls)).body.items).toHaveLength(1);
        await expectOneOutcome(scene, location, WHOLE);
      }),
  );

  scenarios(`an answer whose Nexus was killed ${moment} its delivery counts once when repeated`, () =>
    playScene({ hooks: [{}] }, async (scene) => {
      const { agent, ann, bob, calls } = scene;
      const [worker, nexus] = [await scene.worker(), await scene.nexus(`${moment}-resolve:1`)];
      const parked = await park(agent, calls);
      if (moment === 'amid') await worker.kill();
      await unanswered(nexus, resolve(at(nexus, ann), parked, ALLOW));
      if (moment === 'amid') await scene.worker();

      const told = await untilTold(() => resolve(ann, parked, ALLOW));
      expect(told).toMatchObject({ status: 200, body: { outcome: { decision: 'allow', by: ['ann'] } } });
      expect((await resolve(ann, parked, ALLOW)).body).toEqual(told.body);
      const denied = await resolve(bob, parked, { decision: 'deny', key: 'k2' });
      expect(denied).toMatchObject({ status: 409, body: { outcome: { decision: 'allow' } } });
      await untilTold(() => reportOutput(agent, parked.location));
      await expectOneOutcome(scene, parked.location, WHOLE);
    }),
  );
}

scenarios('an answer that was delivered counts although its sender never comes again', () =>
  playScene({ hooks: [{}] }, async (scene) => {
    const { agent, ann, bob, calls } = scene;
    const [worker, nexus] = [await scene.worker(), await scene.nexus('amid-resolve:1')];
    const parked = await park(agent, calls);
    await worker.kill();
    await unanswered(nexus, resolve(at(nexus, ann), parked, ALLOW));
    await scene.worker();

    await eventually(async () => {
      expect((await agent.get(parked.location)).body).toMatchObject({ status: 'allowed' });
    });
    const denied = await resolve(bob, parked, { decision: 'deny', key: 'k2' });
    expect(denied).toMatchObject({ status: 409, body: { outcome: { decision: 'allow', by: ['ann'] } } });
    await expectOneOutcome(scene, parked.location, { status: 'allowed', events: [...PARKED, ...RESOLVED] });
  }),
);

for (const moment of ['before', 'after'] as const) {
  scenarios(`an output whose Nexus was killed ${moment} its report is kept once when repeated`, () =>
    playScene({ hooks: [{}] }, async (scene) => {
      const { agent, ann, calls } = scene;
      await scene.worker();
      const nexus = await scene.nexus(`${moment}-report:1`);
      const parked = await park(agent, calls);
      await untilTold(() => resolve(ann, parked, ALLOW));
      await unanswered(nexus, reportOutput(at(nexus, agent), parked.location));
      const done = await untilTold(() => reportOutput(agent, parked.location));
      expect(done).toMatchObject({ status: 200, body: { status: 'completed', output: { paid: 100 } } });
      await expectOneOutcome(scene, parked.location, WHOLE);
    }),
  );
}
