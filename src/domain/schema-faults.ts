import { z } from 'zod';

/** Text that a check of the rules accepts; the check says what is wrong with it. */
export function faultOf(check: (text: string) => string | undefined) {
  return z.string().superRefine((text, ctx) => {
    const fault = check(text);
    if (fault !== undefined) ctx.addIssue({ code: 'custom', message: fault });
  });
}

/** For checks that run whatever else is at fault with the value, so that every fault is listed at once. */
export const always = { when: () => true };

/** Members of a value that may be anything yet. */
export function partsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** Adds a fault for each entry whose `id` an earlier entry has. */
export function refuseRepeatedIds(entries: readonly unknown[], what: string, ctx: z.RefinementCtx): void {
  const seen = new Set<unknown>();
  entries.forEach((entry, index) => {
    const { id } = partsOf(entry);
    if (typeof id !== 'string') return;
    if (seen.has(id)) {
      ctx.addIssue({ code: 'custom', path: [index, 'id'], message: `an earlier ${what} has this id` });
    }
    seen.add(id);
  });
}
