import type { PlacedAskedHook, PlacedUrlHook } from './hook';

const FIRST_PAUSE_MS = 200;

/** Longest pause between two attempts, whatever the hook asks for. */
const LONGEST_PAUSE_MS = 10_000;

/** How long to wait after an attempt, in milliseconds: what `Retry-After` says, else twice as long each time. */
export function pauseAfter(attempts: number, retryAfterSeconds: number | undefined): number {
  const wanted =
    retryAfterSeconds === undefined ? FIRST_PAUSE_MS * 2 ** (attempts - 1) : retryAfterSeconds * 1_000;
  return Math.min(wanted, LONGEST_PAUSE_MS);
}

/** Whether a brief first attempt makes sense: `retries: 0` promises one attempt with all its time. */
export function mayTryAtOnce({ hook }: PlacedAskedHook): boolean {
  return hook.processor.type === 'url' && hook.processor.retries > 0;
}

/** How long a hook can be asked at most, pauses included, in milliseconds. */
export function longestAsking({ hook }: PlacedUrlHook): number {
  const { retries, timeoutMs } = hook.processor;
  return (timeoutMs + LONGEST_PAUSE_MS) * (retries + 1);
}
