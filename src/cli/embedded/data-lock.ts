import { linkSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

import { writeJsonAtomically } from './atomic-file';
import { isAlive, ownIdentity, type ProcessIdentity } from './process-identity';
import { StartError } from './start-error';

/**
 * One owner per data folder, also after kill -9 and with any number of starters at the same moment.
 *
 * The folder `lock/` holds files named by a generation that only grows; the highest counts, and it names its owner by pid and birth.
 *
 * L1  A generation is created by `link`, complete and exclusively, and only above one whose owner is dead or has released it.
 * L2  Who created it holds it only if none higher exists afterwards: a slow starter may recreate one that was already swept.
 * L3  The highest is never removed, not even by release, so a number cannot be given twice while somebody still looks at it.
 */
export interface DataLock {
  release(): void;
}

interface LockContent {
  readonly owner: ProcessIdentity | null;
}

/** Throws `StartError` `data_folder_in_use`. */
export function lockDataFolder(dataDir: string): DataLock {
  const folder = join(dataDir, 'lock');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (;;) {
    const highest = highestGeneration(folder);
    const owner = readOwner(folder, highest);
    if (owner && isAlive(owner)) throw inUse(dataDir, owner);
    const mine = highest + 1;
    if (!create(folder, mine)) continue;
    if (highestGeneration(folder) > mine) {
      rmSync(fileOf(folder, mine), { force: true });
      continue;
    }
    sweep(folder, mine);
    return {
      release: () => writeJsonAtomically(fileOf(folder, mine), { owner: null } satisfies LockContent),
    };
  }
}

function create(folder: string, generation: number): boolean {
  const temporary = join(folder, `${randomUUID()}.new`);
  writeJsonAtomically(temporary, { owner: ownIdentity() } satisfies LockContent);
  try {
    linkSync(temporary, fileOf(folder, generation));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

function fileOf(folder: string, generation: number): string {
  return join(folder, `${generation}.json`);
}

function generations(folder: string): number[] {
  return readdirSync(folder)
    .flatMap((name) => /^(\d+)\.json$/.exec(name)?.[1] ?? [])
    .map(Number);
}

function highestGeneration(folder: string): number {
  return Math.max(0, ...generations(folder));
}

function readOwner(folder: string, generation: number): ProcessIdentity | null {
  if (generation === 0) return null;
  try {
    return (JSON.parse(readFileSync(fileOf(folder, generation), 'utf8')) as LockContent).owner;
  } catch {
    return null;
  }
}

function sweep(folder: string, below: number): void {
  for (const generation of generations(folder))
    if (generation < below) rmSync(fileOf(folder, generation), { force: true });
}

function inUse(dataDir: string, { pid }: ProcessIdentity): StartError {
  return new StartError(
    'data_folder_in_use',
    `${dataDir} is already used by a running Portcullis (pid ${pid}). Stop that one, or choose another folder with PORTCULLIS_DATA.`,
  );
}
