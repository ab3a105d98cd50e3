import { setTimeout as sleep } from 'node:timers/promises';
import { startToolServer, type ToolServer } from '../support/tool-server';
import { playOnOwnServers } from './private-servers';
import { scenarios } from './scenarios';
import { playScene, type Scene } from './scene';
import { eventually, untilTold } from './told';

/**
 * kill -9 around a tool that the service runs. A server counts what was done: whatever dies, a tool runs at most once
 * unless it is declared idempotent, and the answer tells the truth about what is known.
 */
async function withTool(
  play: (configuration: object, server: ToolServer) => Promise<void>,
  { idempotent = false, slowMs = 0 } = {},
): Promise<void> {
  const server = await startToolServer(async () => {
    await sleep(slowMs);
    return { paid: true };
  });
  const tool = { kind: 'http', name: 'pay', method: 'POST', url: `${server.url}/pay`, idempotent };
  try {
    await play({ tools: [tool] }, server);
  } finally {
    await server.close();
  }
}

const ask = ({ agent, calls }: Scene) =>
  untilTold(() =>
    agent.post(
      calls,
      { tool: 'pay', input: { amount: 1 }, execution: 'server' },
      { 'idempotency-key': 'the-payment' },
    ),
  );

async function ended(scene: Scene, callId: string) {
  return eventually(async () => {
    const { body } = await scene.agent.get(`${scene.calls}/${callId}`);
    expect(['waiting', 'running', 'allowed']).not.toContain(body.status);
    return body;
  });
}

async function startedEvents({ ann, threadId }: Scene): Promise<number> {
  const { body } = await ann.get(`/v1/threads/${threadId}/events?limit=100`);
  return body.items.filter(({ type }: { type: string }) => type === 'tool_started').length;
}

/** What is known when the first worker dies at a point, and another one takes over. */
const POINTS = [
  ['before-runTool:1', { status: 'completed', executed: true }, 1],
  ['before-run:1', { status: 'failed', executed: 'unknown', error: { code: 'outcome_unknown' } }, 0],
  ['amid-run:1', { status: 'failed', executed: 'unknown', error: { code: 'outcome_unknown' } }, 1],
  ['after-run:1', { status: 'failed', executed: 'unknown', error: { code: 'outcome_unknown' } }, 1],
  ['after-runTool:1', { status: 'completed', executed: true }, 1],
] as const;

for (const [point, outcome, effects] of POINTS) {
  for (const hooks of [[], [{}]]) {
    const what = hooks.length === 0 ? 'that nobody objected to' : 'that a person approved';
    scenarios(
      `a tool ${what}, whose worker is killed ${point}, has run ${effects} times, and its call says so`,
      () =>
        withTool(
          (configuration, server) =>
            playScene({ hooks, configuration }, async (scene) => {
              const first = await scene.worker(point);
              const successor = first.ended.then(() => scene.worker());
              const made = await ask(scene);
              const callId = made.body.id as string;
              if (made.body.status === 'waiting') {
                const waitId = made.body.pendingWaits[0].id as string;
                await scene.ann.post(
                  `/v1/threads/${scene.threadId}/waits/${waitId}/resolve`,
                  { decision: 'allow' },
                  { 'idempotency-key': 'ann' },
                );
              }
              expect(await ended(scene, callId)).toMatchObject(outcome);
              await successor;
              expect((await ask(scene)).body).toMatchObject(outcome);
              expect(server.seen).toHaveLength(effects);
              expect(await startedEvents(scene)).toBe(1);
            }),
          { slowMs: point === 'amid-run:1' ? 1_000 : 0 },
        ),
    );
  }
}

scenarios('a tool that is declared idempotent runs again under the same key when its worker was killed', () =>
  withTool(
    (configuration, server) =>
      playScene({ hooks: [], configuration }, async (scene) => {
        const first = await scene.worker('after-run:1');
        const successor = first.ended.then(() => scene.worker());
        const made = await ask(scene);
        expect(await ended(scene, made.body.id as string)).toMatchObject({
          status: 'completed',
          executed: true,
        });
        await successor;
        expect(server.seen.map(({ headers }) => headers['idempotency-key'])).toEqual([
          made.body.id,
          made.body.id,
        ]);
        expect(await startedEvents(scene)).toBe(2);
      }),
    { idempotent: true },
  ),
);

for (const server of ['redis', 'temporal'] as const) {
  scenarios(`a tool that runs while ${server} is killed has run once, and its result is kept`, () =>
    withTool(
      (configuration, tool) =>
        playOnOwnServers({ hooks: [], configuration }, async (scene, servers) => {
          await scene.worker();
          const made = await ask(scene);
          await eventually(() => {
            expect(tool.seen).toHaveLength(1);
            return Promise.resolve();
          });
          await servers.restart(server);
          expect(await ended(scene, made.body.id as string)).toMatchObject({
            status: 'completed',
            executed: true,
          });
          expect(tool.seen).toHaveLength(1);
        }),
      { slowMs: 1_500 },
    ),
  );
}
