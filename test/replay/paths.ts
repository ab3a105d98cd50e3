import { toolCallWorkflowId } from '../../src/domain/tool-call';
import { Scene } from '../support/scene';
import type { Stack } from '../support/stack';

/**
 * The paths of the tool-call workflow of which a history is kept. Each is played on real servers and gives the id of
 * the call whose history is the record; a parked one is left open.
 */
export interface RecordedPath {
  readonly name: string;
  readonly skipTime?: true;
  play(stack: Stack): Promise<string>;
}

const parkedWaitOf = (call: { body: { pendingWaits: { id: string }[] } }): string =>
  call.body.pendingWaits[0]!.id;

export const RECORDED_PATHS: readonly RecordedPath[] = [
  {
    name: 'allowed-without-a-hook-and-completed',
    async play(stack) {
      const scene = await Scene.set(stack, []);
      const call = await scene.call('free.tool', { a: 1 });
      await scene.output(call.body.id);
      return call.body.id;
    },
  },
  {
    name: 'parked-and-open',
    async play(stack) {
      const scene = await Scene.set(stack, [{ id: 'gate' }]);
      return (await scene.call('payments.transfer', { a: 1 })).body.id;
    },
  },
  {
    name: 'parked-edited-and-completed',
    async play(stack) {
      const scene = await Scene.set(stack, [{ id: 'gate' }]);
      const call = await scene.call('payments.transfer', { a: 1 });
      await scene.resolve(parkedWaitOf(call), { decision: 'allow', updatedInput: { a: 2 }, reason: 'less' });
      await scene.output(call.body.id);
      return call.body.id;
    },
  },
  {
    name: 'second-hook-parked-after-a-defer',
    async play(stack) {
      const scene = await Scene.set(stack, [{ id: 'watch', mode: 'observe' }, { id: 'one' }, { id: 'two' }]);
      const call = await scene.call('t', 1);
      await scene.resolve(parkedWaitOf(call), { decision: 'defer' });
      return call.body.id;
    },
  },
  {
    name: 'quorum-with-one-vote-and-open',
    async play(stack) {
      const scene = await Scene.set(stack, [{ id: 'gate', minApprovals: 2 }]);
      const call = await scene.call('t', 1);
      const { subjectDigest } = call.body;
      await scene.resolve(parkedWaitOf(call), { decision: 'allow', subjectDigest });
      return call.body.id;
    },
  },
  {
    name: 'denied-by-a-person',
    async play(stack) {
      const scene = await Scene.set(stack, [{ id: 'gate' }]);
      const call = await scene.call('t', 1);
      await scene.resolve(parkedWaitOf(call), { decision: 'deny', reason: 'no' });
      return call.body.id;
    },
  },
  {
    name: 'denied-by-signal-after-a-refused-signal',
    async play(stack) {
      const scene = await Scene.set(stack, [{ id: 'gate' }]);
      const call = await scene.call('t', 1);
      const handle = stack.client.workflow.getHandle(toolCallWorkflowId(stack.tenant, call.body.id));
      await handle.signal('resolveWait', { decision: 'allow' });
      await handle.signal('resolveWait', { waitId: parkedWaitOf(call), decision: 'deny' });
      await scene.read(call.body.id, 10);
      await handle.result();
      return call.body.id;
    },
  },
  {
    name: 'denied-by-time-out',
    skipTime: true,
    async play(stack) {
      const scene = await Scene.set(stack, [{ id: 'gate' }]);
      return (await scene.call('t', 1, { prefer: 'wait=20' })).body.id;
    },
  },
  {
    name: 'cancelled-while-parked',
    async play(stack) {
      const scene = await Scene.set(stack, [{ id: 'gate' }]);
      const call = await scene.call('t', 1);
      await scene.agent.delete(`/v1/threads/${scene.threadId}/tool-calls/${call.body.id}`);
      return call.body.id;
    },
  },
  {
    name: 'workflow-cancelled-while-parked',
    async play(stack) {
      const scene = await Scene.set(stack, [{ id: 'gate' }]);
      const call = await scene.call('t', 1);
      const handle = stack.client.workflow.getHandle(toolCallWorkflowId(stack.tenant, call.body.id));
      await handle.cancel();
      await handle.result().catch(() => undefined);
      return call.body.id;
    },
  },
  {
    name: 'output-expired',
    skipTime: true,
    async play(stack) {
      const scene = await Scene.set(stack, []);
      const call = await scene.call('t', 1);
      await stack.client.workflow.getHandle(toolCallWorkflowId(stack.tenant, call.body.id)).result();
      return call.body.id;
    },
  },
];
