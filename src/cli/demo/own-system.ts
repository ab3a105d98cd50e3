import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { awaitAnswer } from '../embedded/await-answer';
import { openDataFolder } from '../embedded/data-folder';
import { SILENT } from '../embedded/progress';
import { STOP_RANK } from '../embedded/process-owner';
import { findSystem, type DemoSystem } from './demo-system';

export interface OwnSystem {
  readonly system: DemoSystem;
  /** Stops it and removes its data. */
  stop(): Promise<void>;
}

/** The very first start fetches Temporal and Valkey. */
const START_TIMEOUT_MS = 600_000;
const STOP_GRACE_MS = 60_000;

/**
 * Starts `portcullis up` on free ports and a folder of its own, so that nothing of the demo stays and nothing of yours
 * is touched. When this process is killed, a guard ends what it has started.
 */
export async function startOwnSystem(options: {
  /** The `portcullis` script. */
  command: string;
  servicesDir: string;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
}): Promise<OwnSystem> {
  const scratch = mkdtempSync(join(tmpdir(), 'portcullis-demo-'));
  const dataDir = join(scratch, 'data');
  const folder = await openDataFolder(scratch, SILENT);
  const stop = async (): Promise<void> => {
    await folder.processes.stopAll(STOP_GRACE_MS);
    folder.close();
    rmSync(scratch, { recursive: true, force: true });
  };
  try {
    const logFile = folder.logFile('up');
    const up = await folder.processes.start({
      name: 'up',
      command: process.execPath,
      args: [options.command, 'up'],
      env: environmentOf(options.env, dataDir, options.servicesDir),
      logFile,
      rank: STOP_RANK.nexus,
    });
    const found: { system?: DemoSystem } = {};
    await awaitAnswer(up, {
      title: 'portcullis up',
      logFile,
      timeoutMs: START_TIMEOUT_MS,
      signal: options.signal,
      probe: async () => {
        const system = await findSystem(dataDir);
        if (system === undefined) throw new Error('it is not ready');
        found.system = system;
      },
    });
    if (found.system === undefined) throw new Error('the system answered and was not found');
    return { system: found.system, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Servers that the environment names are left out: a demo does not belong into them. */
function environmentOf(env: NodeJS.ProcessEnv, dataDir: string, servicesDir: string): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) => !name.startsWith('TEMPORAL_') && name !== 'PORTCULLIS_TENANTS',
  );
  return {
    ...Object.fromEntries(kept),
    PORTCULLIS_DATA: dataDir,
    PORTCULLIS_SERVICES: servicesDir,
    PORTCULLIS_PORT: '0',
    PORTCULLIS_MANAGER_PORT: '0',
    PORTCULLIS_TEMPORAL_PORT: '0',
    PORTCULLIS_TEMPORAL_UI_PORT: '0',
    PORTCULLIS_REDIS_PORT: '0',
  };
}
