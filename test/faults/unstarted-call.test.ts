import type { Answer } from '../support/api';
import { Api } from '../support/api';
import { expectOneOutcome, FINISHED } from './one-outcome';
import { playScene, type Scene } from './scene';
import { scenarios } from './scenarios';
import { reportOutput, untilTold } from './told';

/** A call that no hook matches, whose Nexus is killed between storing it as allowed and starting its workflow. */
async function playUnstarted(play: (scene: Scene, location: string) => Promise<void>): Promise<void> {
  await playScene({ hooks: [] }, async (scene) => {
    const { agent, calls } = scene;
    await scene.worker();
    const nexus = await scene.nexus('before-startAllowed:1');
    await expect(askToLook(new Api(nexus.url, agent.token), calls)).rejects.toThrow('no answer');
    expect(await nexus.ended).toBe('SIGKILL');
    const { items } = (await agent.get(calls)).body as { items: { id: string }[] };
    expect(items).toHaveLength(1);
    await play(scene, `${calls}/${items[0]?.id}`);
  });
}

function askToLook(agent: Api, calls: string): Promise<Answer> {
  return agent.post(calls, { tool: 'look', input: {} }, { 'Idempotency-Key': 'the-call' });
}

const DONE = { status: 'completed', events: ['tool_call_started', ...FINISHED] } as const;

async function takesItsOutput(scene: Scene, location: string): Promise<void> {
  const done = await untilTold(() => reportOutput(scene.agent, location));
  expect(done).toMatchObject({ status: 200, body: { status: 'completed', output: { paid: 100 } } });
  await expectOneOutcome(scene, location, DONE);
}

scenarios('a call that was stored and not started is started by its repeat, and takes its output', () =>
  playUnstarted(async (scene, location) => {
    const again = await untilTold(() => askToLook(scene.agent, scene.calls));
    expect(again).toMatchObject({ status: 200, body: { status: 'allowed' } });
    expect(again.headers.get('location')).toBe(location);
    await takesItsOutput(scene, location);
  }),
);

scenarios(
  'a call that was stored and not started is started by the reconciler, once it is a minute old',
  () =>
    playUnstarted(async (scene, location) => {
      expect(await scene.reconcile(58_000)).toMatchObject({ started: 0, closed: 0 });
      expect(await scene.reconcile()).toMatchObject({ started: 1, closed: 0 });
      expect(await scene.reconcile()).toMatchObject({ started: 0, closed: 0 });
      await takesItsOutput(scene, location);
    }),
);

scenarios('a call that was stored and not started takes its output from a caller that only found it', () =>
  playUnstarted(takesItsOutput),
);

scenarios('a call that was stored and not started can be given up', () =>
  playUnstarted(async (scene, location) => {
    const given = await untilTold(() => scene.agent.delete(location));
    expect(given).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    await expectOneOutcome(scene, location, {
      status: 'cancelled',
      events: ['tool_call_started', 'tool_call_finished'],
    });
  }),
);

scenarios('a call that was stored and not started is cancelled with its thread', () =>
  playUnstarted(async (scene, location) => {
    const closed = await scene.agent.delete(`/v1/threads/${scene.threadId}`);
    expect(closed).toMatchObject({ status: 200, body: { state: 'closed' } });
    await expectOneOutcome(scene, location, {
      status: 'cancelled',
      denial: { by: 'cancelled', reason: { code: 'thread_closed' } },
      events: ['tool_call_started', 'thread_closed', 'tool_call_finished'],
    });
  }),
);
