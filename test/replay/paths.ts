import { callWorkflowId } from '../../src/domain/call';
import { startReceiver, type Behaviour, type Receiver } from '../support/receiver';
import { Scene } from '../support/scene';
import { parkedWaitOf, type RecordedPath } from './recorded-path';
import { TOOL_PATHS } from './tool-paths';
import { TURN_PATHS } from './turn-paths';

const later: Behaviour = (_, response) => {
  response.writeHead(202).end();
  return undefined;
};

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
      const handle = stack.client.workflow.getHandle(callWorkflowId(stack.tenant, call.body.id));
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
      const handle = stack.client.workflow.getHandle(callWorkflowId(stack.tenant, call.body.id));
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
      await stack.client.workflow.getHandle(callWorkflowId(stack.tenant, call.body.id)).result();
      return call.body.id;
    },
  },
  {
    name: 'hooks-asked-at-both-points-and-completed',
    play: (stack) =>
      withHook(
        ({ input }) => ({ decision: 'defer', ...(input.index === 1 && { updatedInput: { b: 2 } }) }),
        async (url) => {
          const after = { point: 'after_tool_call', url } as const;
          const hooks = [
            { id: 'one', url },
            { id: 'two', url },
            { id: 'three', ...after },
          ];
          const scene = await Scene.set(stack, hooks);
          const call = await scene.call('t', { a: 1 });
          await scene.output(call.body.id);
          return call.body.id;
        },
      ),
  },
  {
    name: 'hook-asked-patiently-and-denied',
    play: (stack) =>
      withHook(
        () => ({ decision: 'deny', reason: 'policy' }),
        async (url) => {
          const scene = await Scene.set(stack, [{ id: 'one', url, retries: 0 }]);
          return (await scene.call('t', 1)).body.id;
        },
      ),
  },
  {
    name: 'hook-retried-after-a-first-try',
    play: (stack) => {
      let asked = 0;
      return withHook(
        (_, response) => {
          asked += 1;
          if (asked > 1) return { decision: 'allow' };
          response.writeHead(503).end();
          return undefined;
        },
        async (url) => {
          const scene = await Scene.set(stack, [{ id: 'one', url }]);
          return (await scene.call('t', 1)).body.id;
        },
      );
    },
  },
  {
    name: 'late-answer-allowed-and-completed',
    play: (stack) =>
      withHook(later, async (url, receiver) => {
        const scene = await Scene.set(stack, [{ id: 'slow', url }]);
        const call = await scene.call('t', 1);
        await answerLate(receiver, { decision: 'allow', updatedInput: 2 });
        await scene.output(call.body.id);
        return call.body.id;
      }),
  },
  {
    name: 'late-answer-timed-out',
    skipTime: true,
    play: (stack) =>
      withHook(later, async (url) => {
        const scene = await Scene.set(stack, [{ id: 'slow', url }]);
        return (await scene.call('t', 1, { prefer: 'wait=20' })).body.id;
      }),
  },
  {
    name: 'asked-for-a-person-and-open',
    play: (stack) =>
      withHook(
        () => ({ decision: 'ask', updatedInput: 2 }),
        async (url) => (await (await Scene.set(stack, [{ id: 'unsure', url }])).call('t', 1)).body.id,
      ),
  },
  {
    name: 'output-parked-edited-and-completed',
    async play(stack) {
      const scene = await Scene.set(stack, [{ id: 'person', point: 'after_tool_call' }]);
      const call = await scene.call('t', 1);
      const parked = await scene.output(call.body.id, { output: 'raw' });
      await scene.resolve(parkedWaitOf(parked), { decision: 'allow', updatedOutput: 'clean' });
      return call.body.id;
    },
  },
  {
    name: 'output-withheld',
    play: (stack) =>
      withHook(
        () => ({ decision: 'deny' }),
        async (url) => {
          const scene = await Scene.set(stack, [{ id: 'guard', point: 'after_tool_call', url }]);
          const call = await scene.call('t', 1);
          await scene.output(call.body.id, { error: 'raw' });
          return call.body.id;
        },
      ),
  },
  {
    name: 'text-parked-edited-and-let-through',
    async play(stack) {
      const scene = await Scene.set(stack, [{ id: 'person', point: 'before_input' }]);
      const text = await scene.text('inputs', 'raw');
      await scene.resolve(parkedWaitOf(text), { decision: 'allow', updatedText: 'mild' });
      return text.body.id;
    },
  },
  {
    name: 'text-parked-and-open',
    async play(stack) {
      const scene = await Scene.set(stack, [{ id: 'person', point: 'after_output' }]);
      return (await scene.text('outputs', 'raw')).body.id;
    },
  },
  {
    name: 'text-withheld-by-a-hook',
    play: (stack) =>
      withHook(
        () => ({ decision: 'deny' }),
        async (url) => {
          const scene = await Scene.set(stack, [{ id: 'guard', point: 'after_output', url }]);
          return (await scene.text('outputs', 'raw')).body.id;
        },
      ),
  },
  ...TURN_PATHS,
  ...TOOL_PATHS,
  {
    name: 'pending-then-handed-out-and-completed',
    async play(stack) {
      const scene = await Scene.set(stack, [{ id: 'gate' }]);
      const ask = (toolUseId: string) => scene.call('t', 1, { prefer: 'pending=deny' }, { toolUseId });
      const call = await ask('one');
      await scene.resolve(parkedWaitOf(call), { decision: 'allow' });
      await ask('two');
      await scene.output(call.body.id);
      return call.body.id;
    },
  },
  {
    name: 'edited-by-signal-and-open',
    async play(stack) {
      const scene = await Scene.set(stack, [{ id: 'gate' }]);
      const call = await scene.call('t', 1);
      const handle = stack.client.workflow.getHandle(callWorkflowId(stack.tenant, call.body.id));
      await handle.signal('resolveWait', { waitId: parkedWaitOf(call), decision: 'allow', updatedInput: 2 });
      await scene.read(call.body.id, 10);
      return call.body.id;
    },
  },
  {
    name: 'unmatched-tool-asked-and-denied',
    async play(stack) {
      const scene = await Scene.set(stack, [], undefined, { unmatchedTools: 'ask' });
      const call = await scene.call('t', 1);
      await scene.resolve(parkedWaitOf(call), { decision: 'deny' });
      return call.body.id;
    },
  },
  {
    name: 'cancelled-while-a-hook-is-asked',
    play: (stack) => {
      const free: (() => void)[] = [];
      const reached = signalled();
      return withHook(
        async () => {
          reached.resolve();
          await new Promise<void>((resolve) => free.push(resolve));
          return { decision: 'allow' };
        },
        async (url) => {
          const scene = await Scene.set(stack, [{ id: 'slow', url, retries: 0 }]);
          const making = scene.call('t', 1);
          await reached.promise;
          const [{ id }] = (await scene.agent.get(`/v1/threads/${scene.threadId}/tool-calls`)).body.items;
          await scene.agent.delete(`/v1/threads/${scene.threadId}/tool-calls/${id}`);
          await making;
          for (const release of free) release();
          return id as string;
        },
      );
    },
  },
];

/** A promise that somebody else resolves. */
function signalled(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}

async function withHook(
  behaviour: Behaviour,
  play: (url: string, receiver: Receiver) => Promise<string>,
): Promise<string> {
  const receiver = await startReceiver(behaviour);
  try {
    return await play(receiver.url, receiver);
  } finally {
    await receiver.close();
  }
}

async function answerLate({ received }: Receiver, body: object): Promise<void> {
  const { callback } = received.at(-1)!.input;
  await fetch(callback.url, {
    method: 'POST',
    headers: { authorization: `Bearer ${callback.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}
