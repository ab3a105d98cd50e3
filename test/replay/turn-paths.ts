import { startModelServer, type ModelScript } from '../support/model-server';
import { Scene } from '../support/scene';
import type { Stack } from '../support/stack';
import { parkedWaitOf, type RecordedPath } from './recorded-path';

/** A turn on a profile with a scripted model. */
async function withTurn(
  script: ModelScript,
  hooks: Parameters<typeof Scene.set>[1],
  play: (scene: Scene, made: { body: { id: string } }) => Promise<unknown>,
  stack: Stack,
): Promise<string> {
  const model = await startModelServer(script);
  try {
    const tools = ['pay', 'read'].map((name) => ({ kind: 'caller', name }));
    const scene = await Scene.set(stack, hooks, undefined, {
      model: { baseUrl: model.baseUrl, name: 'scripted' },
      tools,
    });
    const made = await scene.turn('do it');
    await play(scene, made);
    return `turn:${made.body.id as string}`;
  } finally {
    await model.close();
  }
}

const twoCallsThenText: ModelScript = ({ body }) =>
  body.messages.some(({ role }: { role: string }) => role === 'tool')
    ? { text: 'Done.' }
    : {
        calls: [
          ['pay', { n: 1 }],
          ['read', {}],
        ],
      };

async function untilCalls(scene: Scene, count: number) {
  for (;;) {
    const { body } = await scene.agent.get(`/v1/threads/${scene.threadId}/tool-calls`);
    if (body.items.length === count) return body.items;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A call that another model judges; gives the call. */
async function withReview(script: ModelScript, stack: Stack): Promise<string> {
  const model = await startModelServer(script);
  try {
    const admin = await stack.as('root', ['admin']);
    const reviewer = await admin.post('/v1/profiles', {
      name: 'reviewer',
      configuration: { hooks: [], model: { baseUrl: model.baseUrl, name: 'scripted', timeoutMs: 60_000 } },
    });
    const scene = await Scene.set(stack, [{ id: 'judge', reviewer: reviewer.body.id, timeoutMs: 2_000 }]);
    const call = await scene.call('t', 1);
    await scene.read(call.body.id, 20);
    return call.body.id;
  } finally {
    await model.close();
  }
}

/** The paths of the workflow of turns, and of reviews. */
export const TURN_PATHS: readonly RecordedPath[] = [
  {
    name: 'turn-with-two-calls-completed',
    play: (stack) =>
      withTurn(
        twoCallsThenText,
        [],
        async (scene, made) => {
          for (const { id } of await untilCalls(scene, 2)) await scene.output(id);
          await scene.readTurn(made.body.id, 20);
        },
        stack,
      ),
  },
  {
    name: 'turn-given-up-while-a-call-waits',
    play: (stack) =>
      withTurn(
        twoCallsThenText,
        [{ id: 'person', tools: ['pay'] }],
        async (scene, made) => {
          await untilCalls(scene, 2);
          await scene.agent.delete(`/v1/threads/${scene.threadId}/turns/${made.body.id}`);
        },
        stack,
      ),
  },
  {
    name: 'turn-whose-answer-is-withheld',
    play: (stack) =>
      withTurn(
        () => ({ text: 'raw' }),
        [{ id: 'person', point: 'after_output' }],
        async (scene, made) => {
          let turn = await scene.readTurn(made.body.id);
          while (turn.body.status !== 'waiting') turn = await scene.readTurn(made.body.id);
          await scene.resolve(parkedWaitOf(turn), { decision: 'deny' });
          await scene.readTurn(made.body.id, 20);
        },
        stack,
      ),
  },
  {
    name: 'allowed-by-an-agent',
    play: (stack) => withReview(() => ({ text: '{"decision":"allow"}' }), stack),
  },
  {
    name: 'review-took-too-long',
    play: (stack) => withReview(() => new Promise(() => undefined), stack),
  },
  {
    name: 'turn-whose-model-failed',
    play: (stack) =>
      withTurn(
        (_, response) => {
          response.writeHead(400).end();
          return undefined;
        },
        [],
        (scene, made) => scene.readTurn(made.body.id, 20),
        stack,
      ),
  },
];
