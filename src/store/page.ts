import type { RedisConnection } from './connection';

export interface PageRequest {
  readonly limit: number;
  /** Where the page before this one ended. */
  readonly after?: string;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Pass it as `after` for the next page; absent at the end. */
  readonly next?: string;
}

/**
 * A page of a sorted set whose scores are all 0, ordered by name. Pages are stable: what is added or removed
 * elsewhere moves nothing across a page's border.
 */
export async function pageByName(
  redis: RedisConnection,
  key: string,
  request: PageRequest,
): Promise<Page<string>> {
  const from = request.after === undefined ? '-' : `(${request.after}`;
  const found = await redis.zRange(key, from, '+', {
    BY: 'LEX',
    LIMIT: { offset: 0, count: request.limit + 1 },
  });
  return cut(found, request.limit, (name) => name);
}

/** A page of a sorted set whose scores are distinct integers, in their order. */
export async function pageByScore(
  redis: RedisConnection,
  key: string,
  request: PageRequest,
): Promise<Page<string>> {
  const found = await redis.zRangeWithScores(key, `(${request.after ?? '0'}`, '+inf', {
    BY: 'SCORE',
    LIMIT: { offset: 0, count: request.limit + 1 },
  });
  const page = cut(found, request.limit, ({ score }) => String(score));
  return { ...page, items: page.items.map(({ value }) => value) };
}

/** Cuts a list that was read one longer than asked, so that it is known whether more follows. */
export function cut<Item>(
  found: readonly Item[],
  limit: number,
  cursorOf: (item: Item) => string,
): Page<Item> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return found.length > limit && last !== undefined ? { items, next: cursorOf(last) } : { items };
}
