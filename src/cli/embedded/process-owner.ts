import { Guard } from './guard';
import { startOwnedProcess, type OwnedProcess, type ProcessSpec } from './owned-process';
import { ProcessRecords } from './process-records';
import { StartError } from './start-error';

/** Those that use others are stopped before them. */
export const STOP_RANK = { nexus: 0, manager: 1, worker: 2, temporal: 3, redis: 4 } as const;

/** Everything one run has started: it stops all of that, and nothing else. */
export class ProcessOwner {
  readonly #running = new Map<OwnedProcess, number>();
  readonly #guard = new Guard();
  readonly #records: ProcessRecords;
  #stopping = false;

  constructor(recordsPath: string) {
    this.#records = new ProcessRecords(recordsPath);
  }

  /** Throws `StartError`: `server_died` when it cannot be started, `interrupted` when stopping has begun. */
  async start(spec: ProcessSpec): Promise<OwnedProcess> {
    if (this.#stopping)
      throw new StartError('interrupted', `${spec.name} is not started: everything is being stopped.`);
    const started = startOwnedProcess(spec, { guard: this.#guard, records: this.#records });
    if (started instanceof Promise) throw await started;
    this.#running.set(started, spec.rank);
    void started.exited.then(() => this.#running.delete(started));
    return started;
  }

  /** One after the other, by rank; each has `graceMs` before it is killed. */
  async stopAll(graceMs: number): Promise<void> {
    this.#stopping = true;
    for (let next = this.#next(); next; next = this.#next()) {
      await next.stop(graceMs);
      this.#running.delete(next);
    }
    this.#guard.close();
  }

  /** The impatient way: everything at once, without a goodbye. A `stopAll` under way then ends by itself. */
  killAll(): void {
    for (const process of this.#running.keys()) process.kill();
  }

  #next(): OwnedProcess | undefined {
    return [...this.#running].sort(([, left], [, right]) => left - right)[0]?.[0];
  }
}
