import type { StoredWait } from '../../domain/stored-wait';
import type { TenantStore } from '../../store/tenant-store';
import type { SseEvent } from '../http/sse';
import type { NexusPrincipal } from './nexus-principal';
import { onEveryChange } from './on-every-change';
import { openWaitView } from './views/open-waits';
import { maySeeValues } from './views/wait';
import { maySeeWait } from './wait-visibility';

const WAITS_PER_READ = 200;
/** Each look reads the ids of all open waits, so a busy tenant is looked at no more often than this. */
const REST_MS = 50;

/** What a stream remembers of an open wait. */
interface Seen {
  readonly shown: boolean;
  /** Changes with every vote and edit. */
  readonly stage: string;
  /** Only a wait that needs several votes changes while it is open. */
  readonly mayChange: boolean;
}

/**
 * `wait` for every open wait, `listed` once these are out, then `wait` for each that opens or gets a vote and
 * `wait_closed` for each that goes. A new connection begins anew.
 */
export function waitEvents(principal: NexusPrincipal, stop: AbortSignal): AsyncIterable<SseEvent> {
  const { store } = principal;
  const seen = new Map<string, Seen>();
  let listed = false;
  return onEveryChange(principal, { stop, restMs: REST_MS }, async function* () {
    const open = new Set<string>();
    for await (const ids of openWaitIds(store)) {
      ids.forEach((id) => open.add(id));
      const unsure = ids.filter((id) => seen.get(id)?.mayChange ?? true);
      for (const stored of await store.waits.readAll(unsure)) yield* newsOf(principal, stored, seen);
    }
    for (const [id, { shown }] of seen) {
      if (open.has(id)) continue;
      seen.delete(id);
      if (shown) yield { event: 'wait_closed', data: await closedWait(store, id) };
    }
    if (!listed) yield { event: 'listed', data: {} };
    listed = true;
  });
}

async function* openWaitIds(store: TenantStore): AsyncGenerator<readonly string[], void> {
  let after: string | undefined;
  do {
    const page = await store.waits.listOpen({ limit: WAITS_PER_READ, ...(after !== undefined && { after }) });
    yield page.items;
    after = page.next;
  } while (after !== undefined);
}

async function* newsOf(
  principal: NexusPrincipal,
  stored: StoredWait,
  seen: Map<string, Seen>,
): AsyncGenerator<SseEvent, void> {
  const { wait } = stored;
  const stage = `${wait.subject.digest} ${wait.votes.length}`;
  const before = seen.get(wait.id);
  if (before?.stage === stage) return;
  const shown = before?.shown ?? (await maySeeWait(principal, stored));
  if (!shown) {
    seen.set(wait.id, { shown, stage, mayChange: false });
    return;
  }
  const view = await openWaitView(principal.store, stored, { withValue: maySeeValues(principal) });
  if (view === undefined) return;
  seen.set(wait.id, { shown, stage, mayChange: wait.needed > 1 });
  yield { event: 'wait', data: view };
}

async function closedWait(store: TenantStore, id: string): Promise<Record<string, unknown>> {
  const stored = await store.waits.read(id);
  if (stored === undefined) return { id };
  const { wait, threadId, callId } = stored;
  const decision = wait.outcome?.kind === 'answered' ? { decision: wait.outcome.decision } : {};
  return { id, threadId, callId, outcome: wait.outcome?.kind, ...decision };
}
