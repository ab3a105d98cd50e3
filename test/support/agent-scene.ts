import type { ModelServer } from './model-server';
import { Scene, type SceneHook } from './scene';
import type { Stack } from './stack';

const TOOLS = ['pay', 'files.read', 'mail.send'].map((name) => ({ kind: 'caller', name, description: name }));

/** A profile that is a whole agent, with a thread. */
export function agentScene(
  { stack, model }: { stack: Stack; model: ModelServer },
  hooks: readonly SceneHook[],
  more: object = {},
): Promise<Scene> {
  return Scene.set(stack, hooks, undefined, {
    model: { baseUrl: model.baseUrl, name: 'scripted', timeoutMs: 5_000, ...more },
    instructions: 'You are terse.',
    tools: TOOLS,
  });
}

/** The calls of a turn, once there are so many of the status. */
export async function callsOf(scene: Scene, status: string, count: number) {
  for (;;) {
    const { body } = await scene.agent.get(`/v1/threads/${scene.threadId}/tool-calls`);
    // eslint-disable-next-line @typescript-eslint/no-explicit-any
    const calls = body.items.filter((call: any) => call.status === status);
    if (calls.length >= count) return calls;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
