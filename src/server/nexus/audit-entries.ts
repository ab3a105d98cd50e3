import type { EventType } from '../../domain/audit';
import type { AuditEntry } from '../../store/events';
import type { NexusPrincipal } from './nexus-principal';
import { findVisibleThread, maySeeProfile } from './profile-access';

const ENTRIES_PER_READ = 200;
/** The store's clock orders the audit, and an event tells its workflow's: a start is sought this much earlier. */
const CLOCK_MARGIN_MS = 3_600_000;

interface AuditFilter {
  readonly threadId?: string | undefined;
  readonly types?: readonly EventType[] | undefined;
  /** Milliseconds since the epoch, compared with the event's own time; inclusive. */
  readonly since?: number | undefined;
  /** Exclusive. */
  readonly until?: number | undefined;
  /** Place in the audit after which to begin. */
  readonly after?: string | undefined;
}

/** The tenant's audit in stored order, as far as the key may see it and the filter lets through. */
export async function* auditEntries(
  principal: NexusPrincipal,
  filter: AuditFilter,
  stop: AbortSignal,
): AsyncGenerator<AuditEntry, void> {
  const maySee = entryVisibility(principal);
  let after = filter.after ?? placeBefore(filter.since);
  for (let more = true; more && !stop.aborted;) {
    const page = await principal.store.events.audit({
      limit: ENTRIES_PER_READ,
      ...(after !== undefined && { after }),
    });
    for (const entry of page.items) {
      if (passes(filter, entry) && (await maySee(entry))) yield entry;
    }
    after = page.next;
    more = after !== undefined;
  }
}

function placeBefore(since: number | undefined): string | undefined {
  return since === undefined ? undefined : `${Math.max(0, since - CLOCK_MARGIN_MS)}-0`;
}

function passes(
  { threadId, types, since, until }: AuditFilter,
  { threadId: at, event }: AuditEntry,
): boolean {
  const time = Date.parse(event.at);
  return (
    (threadId === undefined || threadId === at) &&
    (types === undefined || types.includes(event.type)) &&
    (since === undefined || time >= since) &&
    (until === undefined || time < until)
  );
}

/** Remembers the threads of one walk: most entries are of a thread that was just looked at. */
function entryVisibility(principal: NexusPrincipal): (entry: AuditEntry) => Promise<boolean> {
  const { key } = principal;
  const threads = new Map<string, boolean>();
  return async ({ threadId, event }) => {
    if (key.profileIds === undefined) return true;
    if (threadId === undefined) return 'profileId' in event.data && maySeeProfile(key, event.data.profileId);
    const visible = threads.get(threadId) ?? (await findVisibleThread(principal, threadId)) !== undefined;
    threads.set(threadId, visible);
    return visible;
  };
}
