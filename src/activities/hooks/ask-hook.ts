import { setTimeout as sleep } from 'node:timers/promises';
import { pauseAfter } from '../../domain/hook-attempts';
import { sendDelivery, type Delivering, type OneDelivery } from './send-delivery';
import type { Attempt, AttemptFailure } from './read-reply';

export interface Asking extends Omit<OneDelivery, 'attempt' | 'timeoutMs'> {
  /** Attempts that were made before, by another activity of the same evaluation. */
  readonly attemptsMade: number;
  /**
   * One attempt only, and no longer than this many milliseconds. What would need longer or another attempt is left
   * undecided.
   */
  readonly patienceMs?: number;
  /** Told before each attempt. */
  readonly onAttempt: (attemptsMade: number) => void;
}

export type Asked =
  | {
      readonly kind: 'answered';
      readonly attempt: Exclude<Attempt, AttemptFailure>;
      readonly attempts: number;
    }
  | { readonly kind: 'failed'; readonly failure: AttemptFailure; readonly attempts: number }
  | { readonly kind: 'undecided'; readonly attempts: number };

/**
 * Asks a hook until it has answered, failed for good, or used up its attempts. All attempts are one delivery. However
 * many activities share the work, a hook is asked at least once and at most `retries + 1` times, unless one of them
 * died and left no word of its attempts.
 */
export async function askHook(delivering: Delivering, asking: Asking): Promise<Asked> {
  const { attemptsMade, patienceMs, onAttempt, placed, signal } = asking;
  const { retries, timeoutMs } = placed.hook.processor;
  const allowed = retries + 1;
  for (let attempts = Math.min(attemptsMade + 1, allowed); ; attempts += 1) {
    onAttempt(attempts);
    const cut = patienceMs !== undefined && patienceMs < timeoutMs;
    const attempt = await sendDelivery(delivering, {
      ...asking,
      attempt: attempts,
      timeoutMs: cut ? patienceMs : timeoutMs,
    });
    if (attempt.kind !== 'failed') return { kind: 'answered', attempt, attempts };
    const isCut = cut && attempt.outcome === 'timeout';
    if (!attempt.retry || (attempts >= allowed && !isCut))
      return { kind: 'failed', failure: attempt, attempts };
    if (patienceMs !== undefined) return { kind: 'undecided', attempts };
    await sleep(pauseAfter(attempts, attempt.retryAfterSeconds), undefined, { signal });
  }
}
