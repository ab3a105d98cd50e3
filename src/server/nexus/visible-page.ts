import type { Page, PageRequest } from '../../store/page';
import type { Cursor } from '../http/cursor';

/** How many times one page asks the store for more while what it finds is not for this key. */
const MAX_ROUNDS = 20;

interface Listing<View> {
  readonly cursor: Cursor<string>;
  readonly list: (page: PageRequest) => Promise<Page<string>>;
  /** The view of an item, or nothing when it is not for this key or has gone since it was listed. */
  readonly show: (id: string) => Promise<View | undefined>;
}

/**
 * A page of those items that a key may see. It can be shorter than asked, even empty, and still have a `nextCursor`:
 * the page ends where the search for visible items stopped, so the next one loses nothing.
 */
export async function visiblePage<View>(
  query: { readonly limit: number; readonly cursor?: string | undefined },
  { cursor, list, show }: Listing<View>,
): Promise<{ items: View[]; nextCursor?: string }> {
  let after = query.cursor === undefined ? undefined : cursor.decode(query.cursor);
  const items: View[] = [];
  for (let round = 0; round < MAX_ROUNDS && items.length < query.limit; round += 1) {
    // Never more than still fit: the place where a round ends is the only place where a page can end.
    const found = await list({ limit: query.limit - items.length, ...(after !== undefined && { after }) });
    const views = await Promise.all(found.items.map(show));
    items.push(...views.filter((view) => view !== undefined));
    if (found.next === undefined) return { items };
    after = found.next;
  }
  return after === undefined ? { items } : { items, nextCursor: cursor.encode(after) };
}
