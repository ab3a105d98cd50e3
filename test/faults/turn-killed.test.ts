import { setTimeout as sleep } from 'node:timers/promises';
import { startModelServer, type ModelScript } from '../support/model-server';
import { Api } from '../support/api';
import { playOnOwnServers } from './private-servers';
import { playScene, type Scene } from './scene';
import { scenarios } from './scenarios';
import { eventually, untilTold } from './told';

/**
 * kill -9 in the middle of a turn with three calls: one is free, one is parked and edited, one is denied. The tools are
 * counted: whatever dies, each runs at most once, and the turn comes to its end.
 */
const script: ModelScript = ({ body }) =>
  body.messages.some(({ role }: { role: string }) => role === 'tool')
    ? { text: 'Done.' }
    : {
        calls: [
          ['read', { path: 'a' }],
          ['pay', { amount: 900 }],
          ['mail', { to: 'x' }],
        ],
      };

const CONFIGURATION = {
  tools: ['read', 'pay', 'mail'].map((name) => ({ kind: 'caller', name })),
  permissions: [{ id: 'no-mail', effect: 'deny', tools: ['mail'] }],
};

/** Runs tools as a caller does that knows nothing of the deaths of others; gives what ran, with which input. */
async function runTools(
  { agent, ann, calls, threadId }: Scene,
  turnId: string,
): Promise<{ ran: Record<string, unknown[]>; turn: { status: string; text?: string } }> {
  const ran: Record<string, unknown[]> = {};
  const done = new Set<string>();
  for (;;) {
    await sleep(100);
    const turn = await agent.get(`/v1/threads/${threadId}/turns/${turnId}`);
    if (turn.status === 200 && turn.body.status !== 'running' && turn.body.status !== 'waiting')
      return { ran, turn: turn.body };
    const { items } = (await agent.get(calls)).body;
    for (const call of items ?? []) {
      if (call.status === 'waiting' && call.pendingWaits.length > 0) {
        const [wait] = call.pendingWaits;
        await ann.post(
          `/v1/threads/${threadId}/waits/${wait.id as string}/resolve`,
          { decision: 'allow', updatedInput: { amount: 250 } },
          { 'idempotency-key': 'ann-1' },
        );
      }
      if (call.status === 'allowed' && !done.has(call.id)) {
        done.add(call.id);
        (ran[call.tool] ??= []).push(call.input);
        await untilTold(() =>
          agent.post(`${calls}/${call.id as string}/output`, { output: { ok: call.tool } }),
        );
      }
    }
  }
}

async function expectWhole(scene: Scene, turnId: string): Promise<void> {
  const { ran, turn } = await runTools(scene, turnId);
  expect(turn).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(ran).toEqual({ read: [{ path: 'a' }], pay: [{ amount: 250 }] });
  const { body } = await scene.ann.get(`/v1/threads/${scene.threadId}/events?limit=100`);
  const types = body.items.map(({ type }: { type: string }) => type);
  const count = (wanted: string): number => types.filter((type: string) => type === wanted).length;
  expect({
    turns: [count('turn_started'), count('turn_finished')],
    calls: [count('tool_call_started'), count('tool_call_finished')],
    outputs: count('tool_finished'),
    texts: [count('text_started'), count('text_finished')],
    waits: [count('wait_opened'), count('wait_resolved')],
  }).toEqual({ turns: [1, 1], calls: [3, 3], outputs: 2, texts: [2, 2], waits: [1, 1] });
  const { items } = (await scene.agent.get(scene.calls)).body;
  expect(items.map(({ tool, status }: { tool: string; status: string }) => [tool, status]).sort()).toEqual([
    ['mail', 'denied'],
    ['pay', 'completed'],
    ['read', 'completed'],
  ]);
}

async function withModel(
  play: (configuration: object) => Promise<void>,
  says: ModelScript = script,
): Promise<void> {
  const model = await startModelServer(says);
  try {
    await play({ ...CONFIGURATION, model: { baseUrl: model.baseUrl, name: 'scripted' } });
  } finally {
    await model.close();
  }
}

const make = (agent: Api, { threadId }: Scene) =>
  agent.post(`/v1/threads/${threadId}/turns`, { text: 'do it' }, { 'idempotency-key': 'the-turn' });

for (const point of [
  'before-askModel:1',
  'amid-askModel:1',
  'after-askModel:1',
  'before-askModel:2',
  'after-askModel:2',
  'before-finishTurn:1',
  'after-finishTurn:1',
  'after-commitStep:1',
  'before-commitStep:2',
  'after-commitStep:2',
  'after-commitStep:3',
] as const) {
  scenarios(`a turn whose worker is killed ${point} comes to its end, and each tool runs at most once`, () =>
    withModel((configuration) =>
      playScene({ hooks: [{}], configuration }, async (scene) => {
        const first = await scene.worker(point);
        const successor = first.ended.then(() => scene.worker());
        const made = await make(scene.agent, scene);
        await expectWhole(scene, made.body.id as string);
        await successor;
      }),
    ),
  );
}

for (const moment of ['before', 'amid', 'after'] as const) {
  scenarios(`a turn whose Nexus is killed ${moment} its start is one turn when it is asked for again`, () =>
    withModel((configuration) =>
      playScene({ hooks: [{}], configuration }, async (scene) => {
        const nexus = await scene.nexus(`${moment}-startTurn:1`);
        await make(new Api(nexus.url, scene.agent.token), scene).catch(() => undefined);
        expect(await nexus.ended).toBe('SIGKILL');
        await scene.worker();
        const made = await make(scene.agent, scene);
        await expectWhole(scene, made.body.id as string);
      }),
    ),
  );
}

/** Takes so long that a server dies while it is asked. */
const slowly: ModelScript = async (asked, response) => {
  await sleep(1_500);
  return script(asked, response);
};

for (const server of ['redis', 'temporal'] as const) {
  scenarios(`a turn goes on after ${server} was killed while the model was asked`, () =>
    withModel(
      (configuration) =>
        playOnOwnServers({ hooks: [{}], configuration }, async (scene, servers) => {
          await scene.worker();
          const made = await make(scene.agent, scene);
          await sleep(500);
          await servers.restart(server);
          await expectWhole(scene, made.body.id as string);
        }),
      slowly,
    ),
  );

  scenarios(`a turn goes on after ${server} was killed while one of its calls was parked`, () =>
    withModel((configuration) =>
      playOnOwnServers({ hooks: [{}], configuration }, async (scene, servers) => {
        await scene.worker();
        const made = await make(scene.agent, scene);
        await eventually(async () => {
          expect((await scene.ann.get('/v1/waits')).body).toMatchObject({ items: [{ tool: 'pay' }] });
        });
        await servers.restart(server);
        await expectWhole(scene, made.body.id as string);
      }),
    ),
  );
}
