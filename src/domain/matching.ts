import type { PlacedHook } from './hook';
import type { Subject } from './subject';

/**
 * Which conditional rules of a call's pinned profile hold for one value. Whoever holds the value works this out when
 * it makes the subject (`match-rules.ts`), and it travels with the subject: workflows decide without opening values.
 * A subject without it belongs to a profile in which nothing depends on values.
 */
export interface Matching {
  /** Places of the hooks at the subject's point whose conditions do not hold. */
  readonly skips: readonly number[];
  /** Place of the permission that decides: the first deny that matches, else the first allow. */
  readonly permission?: number;
}

export function hookMatches({ matching }: Subject, { index }: PlacedHook): boolean {
  return matching?.skips.includes(index) !== true;
}
