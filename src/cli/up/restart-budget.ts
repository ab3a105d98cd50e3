/**
 * How often a child may die. Each death within the window doubles the pause before the next start; the last one that is allowed
 * ends the run, since a child that cannot live does not get better by trying.
 */
const MOST_DEATHS = 5;
const WINDOW_MS = 60_000;
const FIRST_PAUSE_MS = 200;

export type Verdict = { readonly kind: 'restart'; readonly afterMs: number } | { readonly kind: 'give-up' };

export class RestartBudget {
  #deaths: number[] = [];

  recordDeath(now: number): Verdict {
    this.#deaths = [...this.#deaths.filter((at) => now - at < WINDOW_MS), now];
    if (this.#deaths.length >= MOST_DEATHS) return { kind: 'give-up' };
    return { kind: 'restart', afterMs: FIRST_PAUSE_MS * 2 ** (this.#deaths.length - 1) };
  }
}
