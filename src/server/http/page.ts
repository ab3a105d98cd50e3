import { z } from 'zod';

const MAX_PAGE_ITEMS = 200;
const DEFAULT_PAGE_ITEMS = 50;

/** For a route's `query`, under the name `limit`. */
export const limitQuery = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, `must be a whole number from 1 to ${MAX_PAGE_ITEMS}`)
  .transform(Number)
  .refine((limit) => limit <= MAX_PAGE_ITEMS, `must be at most ${MAX_PAGE_ITEMS}`)
  .default(DEFAULT_PAGE_ITEMS)
  .meta({
    description: 'Most items of one page.',
    type: 'integer',
    minimum: 1,
    maximum: MAX_PAGE_ITEMS,
    default: DEFAULT_PAGE_ITEMS,
  });

/** For a route's `query`, under the name `cursor`; a `Cursor` decodes it. */
export const cursorQuery = z
  .string()
  .max(1024)
  .optional()
  .meta({ description: '`nextCursor` of the page before. Opaque.' });

/** The shape of every list. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    items: z.array(item),
    nextCursor: z.string().optional().meta({ description: 'Absent on the last page.' }),
  });
}
