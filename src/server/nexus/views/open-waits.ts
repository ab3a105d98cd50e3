import type { StoredWait } from '../../../domain/stored-wait';
import type { TenantStore } from '../../../store/tenant-store';
import { waitView, type WaitView } from './wait';

/** The view of a wait, or nothing when it closed before its value could be read. */
export async function openWaitView(
  store: TenantStore,
  stored: StoredWait,
  options: { withValue: boolean },
): Promise<WaitView | undefined> {
  if (stored.wait.outcome !== undefined) return undefined;
  try {
    return await waitView(store, stored, options);
  } catch (error) {
    // The value of a wait that closes in between may be gone. An open wait without its value is a fault.
    const now = await store.waits.read(stored.wait.id);
    if (now?.wait.outcome === undefined) throw error;
    return undefined;
  }
}

/** Views of those of the waits that are open, oldest first. */
export async function openWaitViews(
  store: TenantStore,
  waitIds: readonly string[],
  options: { withValue: boolean },
): Promise<WaitView[]> {
  const stored = await store.waits.readAll(waitIds);
  const views = await Promise.all(stored.map((wait) => openWaitView(store, wait, options)));
  return views.filter((view) => view !== undefined).sort((a, b) => compare(placeOf(a), placeOf(b)));
}

function placeOf({ createdAt, id }: WaitView): string {
  return `${createdAt} ${id}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
