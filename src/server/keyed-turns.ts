import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Lets tasks of one key take turns, in the order in which they came; tasks of different keys run together. Turns save
 * work and promise nothing: whoever has waited for `patienceMs` goes on beside the one before, so that one task that
 * gets no answer holds up nobody for longer.
 */
export class KeyedTurns {
  private readonly last = new Map<string, Promise<unknown>>();

  constructor(private readonly patienceMs: number) {}

  /** @param task is told whether it had to wait for others, so that what it knew before may have changed */
  async run<Result>(key: string, task: (waited: boolean) => Promise<Result>): Promise<Result> {
    const waited = this.last.has(key);
    const result = waited ? this.turn(key).then(() => task(true)) : task(false);
    const settled = result.catch(() => undefined);
    this.last.set(key, settled);
    try {
      return await result;
    } finally {
      if (this.last.get(key) === settled) this.last.delete(key);
    }
  }

  private async turn(key: string): Promise<void> {
    const before = this.last.get(key);
    if (before === undefined) return;
    const patience = new AbortController();
    await Promise.race([
      before,
      sleep(this.patienceMs, undefined, { signal: patience.signal }).catch(() => undefined),
    ]);
    patience.abort();
  }
}
