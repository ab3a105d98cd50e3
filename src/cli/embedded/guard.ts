import { spawn, type ChildProcess } from 'node:child_process';

import { guardProgram } from './guard-program';

const POLITE_MS = 4_000;
/** A guard that cannot live here (no memory, say) must not be started for ever; the records are the second line. */
const MOST_REPLACEMENTS = 5;
/** The guard needs nothing of the environment, and what it does not have it cannot leak. */
const NO_ENVIRONMENT = {};

/**
 * A small process that outlives this one by the moment it takes to stop what this one has started. It holds the read end of a pipe
 * whose write end only this process has; the system closes that end when this process disappears, also by kill -9.
 *
 * G1  A process is told to the guard in the same turn of the event loop in which it was spawned.
 * G2  A process is taken back when its exit has been seen, so the guard never signals a pid that has been given away.
 * G3  The guard is in a session of its own: a terminal's Ctrl-C or hang-up does not reach it.
 * G4  A guard that was itself killed is replaced and told everything again.
 */
export class Guard {
  readonly #watched = new Map<number, number>();
  #process: ChildProcess | undefined;
  #closed = false;
  #replacements = 0;

  /** Lower ranks are stopped first. */
  watch(pid: number, rank: number): void {
    this.#watched.set(pid, rank);
    if (this.#process) this.#tell(`+ ${pid} ${rank}\n`);
    else this.#start();
  }

  forget(pid: number): void {
    this.#watched.delete(pid);
    this.#tell(`- ${pid}\n`);
  }

  /** Ends the guard, which stops whatever is still watched. */
  close(): void {
    this.#closed = true;
    this.#process?.stdin?.end();
    this.#process = undefined;
  }

  #start(): void {
    const guard = spawn(process.execPath, ['-e', `(${guardProgram.toString()})(${POLITE_MS})`], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      env: NO_ENVIRONMENT,
    });
    guard.unref();
    guard.stdin.on('error', () => undefined);
    guard.once('error', () => undefined);
    guard.once('exit', () => {
      this.#process = undefined;
      const needed = !this.#closed && this.#watched.size > 0;
      if (needed && ++this.#replacements <= MOST_REPLACEMENTS) this.#start();
    });
    this.#process = guard;
    for (const [pid, rank] of this.#watched) this.#tell(`+ ${pid} ${rank}\n`);
  }

  #tell(command: string): void {
    this.#process?.stdin?.write(command);
  }
}
