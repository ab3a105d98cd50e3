import { SERVICE_OWNER } from '../domain/principal';
import { cancelledDenial } from '../domain/call-chain';
import { endTurn, type TurnStart } from '../domain/turn';
import type { TenantStore } from '../store/tenant-store';

/** Bounds what one run asks Temporal about. */
const MAX_PER_RUN = 500;

/** The reconciler's view of the workflows of turns. */
export interface TurnWorkflows {
  stateOf(tenant: string, turnId: string): Promise<'running' | 'ended' | 'unknown'>;
  start(start: TurnStart): Promise<void>;
}

/**
 * Turns whose store and workflow disagree: one that was stored and never started is started, and one whose workflow has
 * ended or is unknown is closed as cancelled. What is younger than `before` is left alone.
 */
export async function reconcileTurns(
  store: TenantStore,
  workflows: TurnWorkflows,
  { now, before }: { now: number; before: number },
): Promise<{ started: number; closed: number }> {
  let started = 0;
  for (const turnId of await store.turns.listUnstarted(before, MAX_PER_RUN)) {
    const turn = await store.turns.read(turnId);
    if (turn?.record.status === 'running') {
      await workflows.start(turn.start);
      started += 1;
    }
    await store.turns.confirmStarted(turnId);
  }
  let closed = 0;
  for (const turnId of await store.turns.listOpen(MAX_PER_RUN)) {
    const turn = await store.turns.read(turnId);
    if (turn?.record.status !== 'running' || Date.parse(turn.record.createdAt) > before) continue;
    if ((await workflows.stateOf(store.tenant, turnId)) === 'running') continue;
    const denial = cancelledDenial({ by: SERVICE_OWNER, code: 'workflow_ended' }, 'unknown');
    const at = new Date(now).toISOString();
    await store.turns.finish(endTurn(turn.record, { status: 'cancelled', denial }, at));
    closed += 1;
  }
  return { started, closed };
}
