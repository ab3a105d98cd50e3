import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { writeJsonAtomically } from './atomic-file';
import { isAlive, type ProcessIdentity } from './process-identity';

export interface RecordedProcess extends ProcessIdentity {
  readonly name: string;
}

const POLITE_MS = 5_000;
const POLL_MS = 50;

/** What runs for a data folder, kept in a file for the one case the guard cannot cover: it and its parent were both killed. */
export class ProcessRecords {
  readonly #processes = new Map<number, RecordedProcess>();

  constructor(private readonly path: string) {}

  add(process: RecordedProcess): void {
    this.#processes.set(process.pid, process);
    this.#write();
  }

  remove(pid: number): void {
    if (this.#processes.delete(pid)) this.#write();
  }

  #write(): void {
    if (this.#processes.size === 0) rmSync(this.path, { force: true });
    else writeJsonAtomically(this.path, [...this.#processes.values()]);
  }
}

/**
 * Stops what an earlier run has left and returns the names. Only a process with the recorded pid **and** birth is signalled; one
 * that got the pid later belongs to somebody else. Call it while holding the data folder's lock.
 */
export async function stopLeftovers(path: string): Promise<string[]> {
  const leftovers = readRecords(path).filter(isAlive);
  for (const leftover of leftovers) await stop(leftover);
  rmSync(path, { force: true });
  return leftovers.map(({ name, pid }) => `${name} (pid ${pid})`);
}

async function stop(leftover: ProcessIdentity): Promise<void> {
  signalIfAlive(leftover, 'SIGTERM');
  for (const deadline = Date.now() + POLITE_MS; Date.now() < deadline && isAlive(leftover);)
    await sleep(POLL_MS);
  signalIfAlive(leftover, 'SIGKILL');
  for (const deadline = Date.now() + POLITE_MS; Date.now() < deadline && isAlive(leftover);)
    await sleep(POLL_MS);
}

function signalIfAlive(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isAlive(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch {
    // It ended between the look and the signal.
  }
}

function readRecords(path: string): RecordedProcess[] {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return Array.isArray(value) ? value.filter(isRecord) : [];
  } catch {
    return [];
  }
}

function isRecord(value: unknown): value is RecordedProcess {
  if (typeof value !== 'object' || value === null) return false;
  const { name, pid, birth } = value as Record<string, unknown>;
  return (
    typeof name === 'string' && typeof birth === 'string' && Number.isSafeInteger(pid) && Number(pid) > 1
  );
}
