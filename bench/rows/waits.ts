import { randomUUID } from 'node:crypto';
import { callWorkflowId } from '../../src/domain/call';
import { Scene } from '../../test/support/scene';
import type { parked } from '../bare/workflows';
import { resolved } from '../bare/workflows';
import { inTurns, median, settled, timed } from '../measure';
import { bounded, compared, type Row } from '../report';
import type { System } from '../system';

interface ParkedCall {
  readonly body: { readonly id: string; readonly pendingWaits: readonly { readonly id: string }[] };
}

const waitOf = ({ body }: ParkedCall): string => body.pendingWaits[0]?.id ?? '';

/** From the resolver's request until it knows; parking is not counted. */
export async function resolving({ ours, bare }: System, rounds: number): Promise<Row[]> {
  const scene = await Scene.set(ours, [{ id: 'person' }]);
  const { client, taskQueue } = bare;
  const times: { ours: number[]; bare: number[] } = { ours: [], bare: [] };
  for (let round = -5; round < rounds; round += 1) {
    const wait = waitOf(await scene.call('t', { round }));
    const handle = await client.workflow.start<typeof parked>('parked', {
      taskQueue,
      workflowId: randomUUID(),
    });
    const sides = {
      ours: async () => {
        const { status } = await scene.resolve(wait, { decision: 'allow' });
        if (status !== 200) throw new Error(`the answer did not count: ${status}`);
      },
      bare: () => handle.executeUpdate(resolved),
    };
    const order = round % 2 === 0 ? (['ours', 'bare'] as const) : (['bare', 'ours'] as const);
    for (const side of order) {
      await settled();
      const taken = await timed(sides[side]);
      if (round >= 0) times[side].push(taken);
    }
  }
  const measured = { ours: median(times.ours), bare: median(times.bare) };
  return [compared('resolve, p50', 'ms', measured, { atMost: 1.5 })];
}

/** Fifty resolvers of one wait, until all have their answer, compared with one. */
export async function fiftyResolvers({ ours }: System, rounds: number): Promise<Row[]> {
  const scene = await Scene.set(ours, [{ id: 'person' }]);
  const resolveWith = async (resolvers: number): Promise<void> => {
    const wait = parkedWaits.pop() ?? '';
    const answers = await Promise.all(
      Array.from({ length: resolvers }, () => scene.resolve(wait, { decision: 'allow' })),
    );
    const won = answers.filter(({ status }) => status === 200).length;
    if (won !== 1 || answers.some(({ status }) => status !== 200 && status !== 409)) {
      throw new Error(`${won} of ${resolvers} resolvers won`);
    }
  };
  const parkedWaits: string[] = [];
  for (let count = 0; count < (rounds + 10) * 2; count += 1)
    parkedWaits.push(waitOf(await scene.call('t', { count })));
  const measured = await inTurns({ ours: () => resolveWith(50), bare: () => resolveWith(1) }, rounds);
  return [compared('50 resolvers of one wait', 'ms', measured, { atMost: 10 })];
}

/** What a call leaves in Temporal's history. */
export async function histories({ ours, receiver }: System): Promise<Row[]> {
  receiver.behave(() => ({ decision: 'defer' }));
  const before = { id: 'before', url: receiver.url };
  const after = { id: 'after', point: 'after_tool_call', url: receiver.url } as const;
  const plain = await historyOf(ours, [before, after]);
  const parkedOnce = await historyOf(ours, [{ id: 'person' }, after]);
  return [
    bounded('history, a hook at each tool point', 'events', plain.events, 18),
    bounded('history, a hook at each tool point', 'bytes', plain.bytes, 24_576),
    bounded('history, with one park', 'events', parkedOnce.events, 26),
  ];
}

async function historyOf(ours: System['ours'], hooks: Parameters<typeof Scene.set>[1]) {
  const scene = await Scene.set(ours, hooks);
  const made: ParkedCall = await scene.call('t', { to: 'ACME', amount: 5 });
  if (made.body.pendingWaits.length > 0) await scene.resolve(waitOf(made), { decision: 'allow' });
  await scene.output(made.body.id, { output: { receipt: 'R-1' } });
  const handle = ours.client.workflow.getHandle(callWorkflowId(ours.tenant, made.body.id));
  await handle.result();
  const { historyLength, historySize = Number.NaN } = await handle.describe();
  return { events: historyLength, bytes: historySize };
}
