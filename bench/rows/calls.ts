import { WithStartWorkflowOperation } from '@temporalio/client';
import { randomUUID } from 'node:crypto';
import { Scene } from '../../test/support/scene';
import type { askedOnce, started } from '../bare/workflows';
import { decided } from '../bare/workflows';
import { inTurns, median, throughput, timed } from '../measure';
import { compared, type Row } from '../report';
import type { System } from '../system';

const INPUT = { to: 'ACME', amount: 5 };

/** A call with one url hook that defers, in its default settings: from the request to the decision. */
export async function oneHook(system: System, rounds: number): Promise<Row[]> {
  const { ours, receiver } = system;
  receiver.behave(() => ({ decision: 'defer' }));
  const scene = await Scene.set(ours, [{ id: 'hook', url: receiver.url }]);
  const sides = {
    ours: async () => expectAllowed(await scene.call('t', INPUT)),
    bare: () => askBare(system, receiver.url),
  };
  const alone = await inTurns(sides, rounds);
  const many = await throughput(sides, { callers: 32, perBlock: rounds * 2, blocks: 5 });
  return [
    compared('one url hook, p50', 'ms', alone, { atMost: 1.3 }),
    compared('one url hook, 32 callers', '/s', many, { atLeast: 0.75 }),
  ];
}

/** A call that no rule has a say about, compared with one append on the disk and a bare start. */
export async function noHook({ ours, bare }: System, rounds: number): Promise<Row[]> {
  const scene = await Scene.set(ours, []);
  const measured = await inTurns(
    {
      ours: async () => expectAllowed(await scene.call('t', INPUT)),
      bare: async () => {
        await bare.activities.append();
        const { client, taskQueue } = bare;
        await client.workflow.start<typeof started>('started', { taskQueue, workflowId: randomUUID() });
      },
    },
    rounds,
  );
  return [compared('no hook, p50', 'ms', measured, { atMost: 1.5 })];
}

/** Sixteen hooks that defer: each costs its own time and at most 5 ms, and the whole one workflow task. */
export async function sixteenHooks(system: System, rounds: number): Promise<Row[]> {
  const { ours, receiver, bare } = system;
  receiver.behave(() => ({ decision: 'defer' }));
  const hooks = Array.from({ length: 16 }, (_, index) => ({ id: `h${index}`, url: receiver.url }));
  const scene = await Scene.set(ours, hooks);
  const posts: number[] = [];
  const tasks: number[] = [];
  const { ours: taken } = await inTurns(
    {
      ours: async () => expectAllowed(await scene.call('t', INPUT)),
      bare: async () => {
        posts.push(await timed(() => bare.activities.post(receiver.url)));
        tasks.push(await timed(() => updateWithStart(system, 'started', [])));
      },
    },
    rounds,
  );
  await expectAllAsked(system, scene);
  const allowed = 16 * median(posts) + 16 * 5 + median(tasks);
  return [compared('16 url hooks, p50', 'ms', { ours: taken, bare: allowed }, { atMost: 1.2 })];
}

/** One more call: each of its hooks is asked and audited, or the row would compare less work. */
async function expectAllAsked({ receiver }: System, scene: Scene): Promise<void> {
  const before = receiver.received.length;
  const fresh = await scene.newThread();
  const { body } = await fresh.call('t', INPUT);
  const decisions = await fresh.eventsOf(body.id, 'hook_decision');
  const asked = receiver.received.length - before;
  if (asked < 16 || decisions.length !== 16)
    throw new Error(`${asked} deliveries and ${decisions.length} events instead of 16 each`);
}

function askBare(system: System, url: string): Promise<void> {
  return updateWithStart(system, 'askedOnce', [url]);
}

async function updateWithStart(
  { bare: { client, taskQueue } }: System,
  workflow: 'askedOnce' | 'started',
  args: [string] | [],
): Promise<void> {
  await client.workflow.executeUpdateWithStart(decided, {
    updateId: 'decide',
    startWorkflowOperation: new WithStartWorkflowOperation<typeof askedOnce | typeof started>(workflow, {
      taskQueue,
      workflowId: randomUUID(),
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: args,
    }),
  });
}

function expectAllowed({ status, body }: { status: number; body: { status?: string } }): void {
  if (status !== 200 || body.status !== 'allowed')
    throw new Error(`the call was not allowed: ${JSON.stringify(body)}`);
}
