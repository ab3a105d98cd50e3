import { SERVICE_OWNER } from '../domain/principal';
import type { ToolCallStart } from '../domain/call';
import { isOpen } from '../domain/call';
import { cancelCall, type CancelInput } from '../domain/call-machine';
import type { CallSnapshot } from '../store/calls';
import type { TenantStore } from '../store/tenant-store';
import type { TenantStores } from '../store/tenant-stores';
import { reconcileTurns, type TurnWorkflows } from './reconcile-turns';
import { sweepBlobs } from './sweep-blobs';

/**
 * The store and Temporal can disagree after a termination, a lost store, or a crash between two writes. Six kinds of
 * disagreement, each with one remedy that is safe to repeat:
 *
 *   F1  an open call (parked or not), but its workflow has ended or is unknown → closed as cancelled, by generation
 *   F2  a call stored as allowed, but its workflow was never started     → started
 *   F3  a running workflow whose call the store does not know            → asked to catch up: it publishes again
 *   F4  a running workflow whose call has ended in the store             → asked to catch up: it adopts the end
 *   F5  an open call in a closed thread                                  → cancelled
 *   F6  a running workflow whose open call is past its deadline          → asked to catch up: its timer is of a step
 *       before the stored one, whose message was lost
 *
 * Values that were written for a call and that nothing refers to are deleted with it (sweep-blobs.ts), and what the tenant
 * does not keep of its audit.
 *
 * What is younger than a minute is left alone: its writes may still be under way.
 */
const MIN_AGE_MS = 60_000;

/** How far back the broken workflows are looked through first; older ones are found by the sweep. */
const BROKEN_WINDOW_MS = 3_600_000;

/** Bounds what one run asks Temporal about; the sweep over open calls goes on where the last one stopped. */
const MAX_PER_RUN = 2_000;
const PAGE = 100;

export interface CallWorkflows {
  /** `unknown`: there is no such workflow, or none any more. */
  stateOf(tenant: string, callId: string): Promise<'running' | 'ended' | 'unknown'>;
  start(start: ToolCallStart): Promise<void>;
  catchUp(tenant: string, callId: string): Promise<void>;
  giveUp(tenant: string, callId: string, input: CancelInput): Promise<void>;
  /** Call ids of workflows of the tenant that were terminated, failed or timed out after the given time. */
  listBroken(tenant: string, closedAfter: Date): AsyncIterable<string>;
  /** Call ids of running workflows of the tenant that were started before the given time. */
  listRunning(tenant: string, startedBefore: Date): AsyncIterable<string>;
}

export interface ReconcileDependencies {
  readonly stores: TenantStores;
  readonly workflows: CallWorkflows;
  readonly turnWorkflows: TurnWorkflows;
}

export interface Reconciled {
  readonly closed: number;
  readonly started: number;
  readonly asked: number;
  readonly cancelled: number;
  /** Values that nothing refers to. */
  readonly swept: number;
}

export async function reconcileTenant(
  { stores, workflows, turnWorkflows }: ReconcileDependencies,
  { tenant, now, onProgress }: { tenant: string; now: number; onProgress: () => void },
): Promise<Reconciled> {
  const store = stores.of(tenant);
  const before = now - MIN_AGE_MS;
  const started = await startUnstarted(store, workflows, before);
  const sweep: Sweep = { store, workflows, now, before, onProgress };
  const broken = await checkOpen(sweep, workflows.listBroken(tenant, new Date(now - BROKEN_WINDOW_MS)));
  const open = await checkOpen(sweep, store.openCalls.sweep(MAX_PER_RUN, PAGE));
  const asked = await checkRunning(sweep);
  const turns = await reconcileTurns(store, turnWorkflows, { now, before });
  await store.events.trimAudit((await store.settings.read()).retention, now);
  return {
    started: started + turns.started,
    closed: broken.closed + open.closed + turns.closed,
    cancelled: broken.cancelled + open.cancelled,
    asked: broken.asked + open.asked + asked,
    swept: await sweepBlobs(
      store,
      async (callId) => (await workflows.stateOf(tenant, callId)) === 'running',
      before,
    ),
  };
}

interface Sweep {
  readonly store: TenantStore;
  readonly workflows: CallWorkflows;
  readonly now: number;
  readonly before: number;
  readonly onProgress: () => void;
}

async function startUnstarted(store: TenantStore, workflows: CallWorkflows, before: number): Promise<number> {
  let started = 0;
  for (const callId of await store.calls.listUnstarted(before, MAX_PER_RUN)) {
    const snapshot = await store.calls.readToolCall(callId);
    if (snapshot !== undefined) {
      await workflows.start(snapshot.start);
      started += 1;
    }
    await store.calls.confirmStarted(callId);
  }
  return started;
}

async function checkOpen(
  { store, workflows, now, before, onProgress }: Sweep,
  callIds: AsyncIterable<string>,
): Promise<Pick<Reconciled, 'closed' | 'cancelled' | 'asked'>> {
  let closed = 0;
  let cancelled = 0;
  let asked = 0;
  let checked = 0;
  for await (const callId of callIds) {
    checked += 1;
    if (checked > MAX_PER_RUN) break;
    if (checked % PAGE === 0) onProgress();
    const snapshot = await store.calls.read(callId);
    if (snapshot === undefined) continue;
    const { call } = snapshot.state;
    if (!isOpen(call.status) || Date.parse(call.updatedAt) > before) continue;
    if ((await workflows.stateOf(store.tenant, callId)) !== 'running') {
      if (await closeAbandoned(store, snapshot, now)) closed += 1;
    } else if ((await store.threads.read(call.threadId))?.closed === true) {
      await workflows.giveUp(store.tenant, callId, { by: SERVICE_OWNER, code: 'thread_closed' });
      cancelled += 1;
    } else if (call.expiresAt !== undefined && Date.parse(call.expiresAt) <= before) {
      await workflows.catchUp(store.tenant, callId);
      asked += 1;
    }
  }
  return { closed, cancelled, asked };
}

async function closeAbandoned(store: TenantStore, snapshot: CallSnapshot, now: number): Promise<boolean> {
  const outcome = cancelCall(snapshot.start, snapshot.state, {
    input: { by: SERVICE_OWNER, code: 'workflow_ended' },
    now,
  });
  if (outcome.kind !== 'step') return false;
  const result = await store.calls.commit(outcome.transition, { ifGeneration: snapshot.generation });
  return result.kind === 'applied';
}

/**
 * Looks at every running workflow: the lists of Temporal have no order in which a bounded run could go on, and whether
 * a call is open costs the store one look per page.
 */
async function checkRunning({ store, workflows, before, onProgress }: Sweep): Promise<number> {
  let asked = 0;
  for await (const page of pagesOf(workflows.listRunning(store.tenant, new Date(before)))) {
    onProgress();
    for (const callId of await store.openCalls.notAmong(page)) {
      await workflows.catchUp(store.tenant, callId);
      asked += 1;
    }
  }
  return asked;
}

async function* pagesOf(ids: AsyncIterable<string>): AsyncGenerator<string[]> {
  let page: string[] = [];
  for await (const id of ids) {
    page.push(id);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
