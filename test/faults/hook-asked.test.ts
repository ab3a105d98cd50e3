import { startReceiver, type Behaviour, type Receiver } from '../support/receiver';
import { playScene, type Approval, type Scene } from './scene';
import { scenarios } from './scenarios';
import { askToPay, reportOutput, untilTold } from './told';

/**
 * kill -9 of the worker around the asking of a hook. The hook would say something else the second time, and the store
 * knows only what it said first: decision and audit must not differ, whichever worker tells them.
 */
type Decision = 'allow' | 'deny';

interface Event {
  readonly type: string;
  readonly data: { readonly decision?: string; readonly hookId?: string; readonly deliveryId?: string };
}

async function withReceiver(
  behaviour: Behaviour,
  play: (receiver: Receiver) => Promise<void>,
): Promise<void> {
  const receiver = await startReceiver(behaviour);
  try {
    await play(receiver);
  } finally {
    await receiver.close();
  }
}

/** Says one thing when it is asked for the first time, which it takes its time for, and the opposite ever after. */
function fickle(first: Decision, firstTakesMs = 0): Behaviour {
  let asked = 0;
  return async () => {
    asked += 1;
    const says = asked === 1 ? first : first === 'allow' ? 'deny' : 'allow';
    if (asked === 1) await new Promise((resolve) => setTimeout(resolve, firstTakesMs));
    return { decision: says };
  };
}

const opposite = { allow: 'deny', deny: 'allow' } as const;

/** The worker dies at the point, and another one takes over. */
async function takenOver(scene: Scene, crashAt: string): Promise<() => Promise<unknown>> {
  const first = await scene.worker(crashAt);
  const successor = first.ended.then((signal) => {
    expect(signal).toBe('SIGKILL');
    return scene.worker();
  });
  return () => successor;
}

async function decisionsOf({ ann, threadId }: Scene): Promise<Event[]> {
  const { body } = await ann.get(`/v1/threads/${threadId}/events?limit=100`);
  return (body.items as Event[]).filter(({ type }) => type === 'hook_decision');
}

/** What the caller is told, and that the audit says the same, once. */
async function expectDecision(scene: Scene, decision: Decision): Promise<void> {
  const made = await untilTold(() => askToPay(scene.agent, scene.calls, 'the-call'));
  // While a hook is asked again the call waits; how it is decided is found at its address.
  const told = await scene.agent.get(`${scene.calls}/${made.body.id as string}`, { Prefer: 'wait=60' });
  expect(told.body.status).toBe(decision === 'allow' ? 'allowed' : 'denied');
  expect((await decisionsOf(scene)).map(({ data }) => data.decision)).toEqual([decision]);
}

const HOOKS = [
  ['at once', 'askHookAtOnce', {}],
  ['patiently', 'askHookPatiently', { retries: 0 }],
] as const satisfies readonly (readonly [string, string, Approval])[];

for (const [how, activity, hook] of HOOKS) {
  for (const first of ['allow', 'deny'] as const) {
    scenarios(
      `a worker killed after a hook that is asked ${how} was stored to ${first} tells that, and asks no more`,
      () =>
        withReceiver(fickle(first), (receiver) =>
          playScene({ hooks: [{ url: receiver.url, ...hook }] }, async (scene) => {
            const successor = await takenOver(scene, `after-${activity}:1`);
            await expectDecision(scene, first);
            await successor();
            expect(receiver.received).toHaveLength(1);
          }),
        ),
    );

    scenarios(
      `a worker killed while a hook is asked ${how} has it asked again in the same delivery, and what is stored counts (${opposite[first]})`,
      () =>
        withReceiver(fickle(first, 1_000), (receiver) =>
          playScene({ hooks: [{ url: receiver.url, ...hook }] }, async (scene) => {
            const successor = await takenOver(scene, `amid-${activity}:1`);
            await expectDecision(scene, opposite[first]);
            await successor();
            expect(receiver.received).toHaveLength(2);
            expect(new Set(receiver.received.map(({ input }) => input.deliveryId)).size).toBe(1);
          }),
        ),
    );
  }

  scenarios(
    `a worker killed after a hook after the tool that is asked ${how} was stored withholds the output once and for all`,
    () =>
      withReceiver(fickle('deny'), (receiver) =>
        playScene({ hooks: [{ url: receiver.url, point: 'after_tool_call', ...hook }] }, async (scene) => {
          const successor = await takenOver(scene, `after-${activity}:1`);
          const made = await untilTold(() => askToPay(scene.agent, scene.calls, 'the-call'));
          const location = `${scene.calls}/${made.body.id as string}`;
          const told = await untilTold(() => reportOutput(scene.agent, location));
          expect(told.body).toMatchObject({ status: 'denied', denial: { by: 'policy', executed: true } });
          expect(told.body).not.toHaveProperty('output');
          await successor();
          expect((await decisionsOf(scene)).map(({ data }) => data.decision)).toEqual(['deny']);
          expect(receiver.received).toHaveLength(1);
        }),
      ),
  );
}

scenarios(
  'an answer that came before the 202 is not lost when the worker dies before it has read that',
  () => {
    const early: Behaviour = async ({ input }, response) => {
      await fetch(input.callback.url, {
        method: 'POST',
        headers: { authorization: `Bearer ${input.callback.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ decision: 'deny', reason: 'early' }),
      });
      await new Promise((resolve) => setTimeout(resolve, 800));
      response.writeHead(202).end();
      return undefined;
    };
    return withReceiver(early, (receiver) =>
      playScene({ hooks: [{ url: receiver.url }] }, async (scene) => {
        const successor = await takenOver(scene, 'amid-askHookAtOnce:1');
        await expectDecision(scene, 'deny');
        await successor();
      }),
    );
  },
);

scenarios(
  'a worker killed while the second of three hooks is asked goes on with that one, in the same delivery',
  () => {
    const slowSecond: Behaviour = async ({ input }) => {
      await new Promise((resolve) => setTimeout(resolve, input.hookId === 'gate-2' ? 800 : 0));
      return { decision: 'defer' };
    };
    return withReceiver(slowSecond, (receiver) =>
      playScene(
        { hooks: [{ url: receiver.url }, { url: receiver.url }, { url: receiver.url }] },
        async (scene) => {
          const successor = await takenOver(scene, 'amid-askHookAtOnce:1');
          await expectAllDeferred(scene);
          await successor();
          const asked = receiver.received.map(({ input }) => input.hookId);
          expect(asked).toEqual(['gate-1', 'gate-2', 'gate-2', 'gate-3']);
          expect(new Set(receiver.received.map(({ input }) => input.deliveryId)).size).toBe(3);
        },
      ),
    );
  },
);

async function expectAllDeferred(scene: Scene): Promise<void> {
  const made = await untilTold(() => askToPay(scene.agent, scene.calls, 'the-call'));
  const told = await scene.agent.get(`${scene.calls}/${made.body.id as string}`, { Prefer: 'wait=60' });
  expect(told.body.status).toBe('allowed');
  const decisions = await decisionsOf(scene);
  expect(decisions.map(({ data }) => [data.hookId, data.decision])).toEqual([
    ['gate-1', 'defer'],
    ['gate-2', 'defer'],
    ['gate-3', 'defer'],
  ]);
}
