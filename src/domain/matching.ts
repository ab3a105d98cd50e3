import type { PlacedHook } from './hook';
import type { Subject } from './subject';

/** Whether a hook has a say about this value, as far as its conditions go. */
export function hookMatches({ matching }: Subject, { index }: PlacedHook): boolean {
  return matching?.skips.includes(index) !== true;
}
