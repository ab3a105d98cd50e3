import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { lockDataFolder } from './data-lock';
import { readDataVersion } from './data-version';
import { ProcessOwner } from './process-owner';
import { stopLeftovers } from './process-records';
import type { Progress } from './progress';

/** A data folder of which this process is the only user, until `close`. */
export interface DataFolder {
  readonly path: string;
  readonly processes: ProcessOwner;
  logFile(name: string): string;
  close(): void;
}

/** Locks, checks the format, and stops what a killed run has left. Throws `StartError`, and then holds nothing. */
export async function openDataFolder(dataDir: string, progress: Progress): Promise<DataFolder> {
  const path = resolve(dataDir);
  const logs = join(path, 'logs');
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const lock = lockDataFolder(path);
  try {
    readDataVersion(path);
    mkdirSync(logs, { recursive: true, mode: 0o700 });
    const records = join(path, 'processes.json');
    for (const leftover of await stopLeftovers(records))
      progress.line(`Stopped ${leftover}, left by an earlier run.`);
    return {
      path,
      processes: new ProcessOwner(records),
      logFile: (name) => join(logs, `${name}.log`),
      close: () => lock.release(),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}
