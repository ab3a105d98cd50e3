/**
 * A signal that is aborted when either of two is. `release` takes its listeners away: unlike `AbortSignal.any`,
 * nothing then stays behind on a signal that lives as long as the process.
 */
export function eitherAborted(a: AbortSignal, b: AbortSignal): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  for (const source of [a, b]) {
    if (source.aborted) abort();
    source.addEventListener('abort', abort, { once: true });
  }
  return {
    signal: controller.signal,
    release: () => [a, b].forEach((source) => source.removeEventListener('abort', abort)),
  };
}
