import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { writeJsonAtomically } from '../embedded/atomic-file';

/** Process ids of what runs; an external service has none here. */
type ReadyPids = Partial<Record<'up' | 'nexus' | 'manager' | 'worker' | 'temporal' | 'redis', number>>;

/** `<data>/ready.json` */
export interface ReadyState {
  /** URL of Nexus. */
  readonly nexus: string;
  /** URL of Manager; left out when there is none. */
  readonly manager?: string;
  readonly temporalAddress: string;
  readonly temporalNamespace: string;
  /** URL; left out when Temporal is not ours. */
  readonly temporalUi?: string;
  /** Holds the password, which is why only the owner may read the file. */
  readonly redisUrl: string;
  readonly pids: ReadyPids;
}

/** Exists exactly while everything answers; whoever waits for Portcullis waits for this file. */
export class ReadyFile {
  readonly #path: string;
  #state: ReadyState | undefined;

  constructor(dataDir: string) {
    this.#path = join(dataDir, 'ready.json');
    rmSync(this.#path, { force: true });
  }

  publish(state: ReadyState): void {
    this.#state = state;
    writeJsonAtomically(this.#path, state);
  }

  /** Nothing to do before it is published or after it is removed. */
  updatePid(name: keyof ReadyPids, pid: number): void {
    if (this.#state) this.publish({ ...this.#state, pids: { ...this.#state.pids, [name]: pid } });
  }

  remove(): void {
    this.#state = undefined;
    rmSync(this.#path, { force: true });
  }
}
