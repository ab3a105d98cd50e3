import { startToolServer, type ToolBehaviour } from '../support/tool-server';
import { Scene } from '../support/scene';
import type { Stack } from '../support/stack';
import { parkedWaitOf, type RecordedPath } from './recorded-path';

/** A call of a tool that the service runs; gives the call. */
async function withTool(
  behaviour: ToolBehaviour,
  hooks: Parameters<typeof Scene.set>[1],
  play: (scene: Scene, callId: string) => Promise<unknown>,
  stack: Stack,
): Promise<string> {
  const server = await startToolServer(behaviour);
  try {
    const tool = { kind: 'http', name: 'pay', method: 'POST', url: `${server.url}/pay` };
    const scene = await Scene.set(stack, hooks, undefined, { tools: [tool] });
    const made = await scene.call('pay', { n: 1 }, { 'idempotency-key': 'one' }, { execution: 'server' });
    await play(scene, made.body.id);
    return made.body.id;
  } finally {
    await server.close();
  }
}

const pays: ToolBehaviour = () => ({ paid: true });

/** The paths of calls whose tool runs here. */
export const TOOL_PATHS: readonly RecordedPath[] = [
  {
    name: 'run-here-without-a-hook',
    play: (stack) => withTool(pays, [], (scene, callId) => scene.read(callId, 20), stack),
  },
  {
    name: 'run-here-after-an-approval',
    play: (stack) =>
      withTool(
        pays,
        [{ id: 'person' }],
        async (scene, callId) => {
          const wait = parkedWaitOf(await scene.read(callId));
          await scene.resolve(wait, { decision: 'allow', updatedInput: { n: 2 } });
          await scene.read(callId, 20);
        },
        stack,
      ),
  },
  {
    name: 'run-here-and-given-up',
    play: (stack) =>
      withTool(
        () => new Promise(() => undefined),
        [],
        (scene, callId) => scene.agent.delete(`/v1/threads/${scene.threadId}/tool-calls/${callId}`),
        stack,
      ),
  },
];
