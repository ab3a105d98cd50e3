import { join } from 'node:path';

import { openDataFolder } from './data-folder';
import { SILENT, type Progress } from './progress';
import type { AppendFsync } from './redis-server';
import type { SearchAttribute } from './search-attributes';
import { startServers } from './start-servers';
import type { DynamicConfig } from './temporal-server';

export interface StartServicesOptions {
  /** Holds the databases, logs and the Redis password. One run at a time. */
  readonly dataDir: string;
  /** Where servers that are not on PATH are installed; may be shared by many data folders. Default `<dataDir>/services`. */
  readonly servicesDir?: string;
  /** 0 takes a free one. Default: all 0. */
  readonly ports?: { readonly temporal?: number; readonly temporalUi?: number; readonly redis?: number };
  readonly searchAttributes?: readonly SearchAttribute[];
  /** e.g. `{ 'frontend.WorkflowTimeSkippingEnabled': true }`. Default: none beyond what every embedded server gets. */
  readonly dynamicConfig?: DynamicConfig;
  /** Default `always`; see `AppendFsync` for what `everysec` may lose. */
  readonly appendFsync?: AppendFsync;
  readonly temporalBinary?: string;
  readonly redisBinary?: string;
  /** Default: silence. */
  readonly progress?: Progress;
  /** Interrupts the start; what runs by then is stopped before the promise rejects. */
  readonly signal?: AbortSignal;
  /** Searched for PATH, and given to pip. Default `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
}

export interface EmbeddedServices {
  readonly temporal: {
    readonly address: string;
    readonly namespace: string;
    readonly uiUrl: string;
    readonly pid: number;
  };
  /** `url` holds the password. */
  readonly redis: { readonly url: string; readonly pid: number };
  /** Temporal first, then Redis. The data stay. May be called again. */
  stop(): Promise<void>;
}

const STOP_GRACE_MS = 10_000;

/**
 * One Temporal and one Valkey or Redis, for tests and for tools that need no Nexus. Resolves when both answer. If this process
 * disappears, whatever kills it, both are stopped. Throws `StartError`, and then nothing is left running.
 */
export async function startServices(options: StartServicesOptions): Promise<EmbeddedServices> {
  const { dataDir, ports = {}, progress = SILENT, env = process.env } = options;
  const folder = await openDataFolder(dataDir, progress);
  const stop = async (): Promise<void> => {
    await folder.processes.stopAll(STOP_GRACE_MS);
    folder.close();
  };
  try {
    const { temporal, redis } = await startServers(
      {
        temporal: {
          port: ports.temporal ?? 0,
          uiPort: ports.temporalUi ?? 0,
          binary: options.temporalBinary,
          searchAttributes: options.searchAttributes ?? [],
          dynamicConfig: options.dynamicConfig ?? {},
        },
        redis: {
          port: ports.redis ?? 0,
          appendFsync: options.appendFsync ?? 'always',
          binary: options.redisBinary,
        },
      },
      {
        folder,
        servicesDir: options.servicesDir ?? join(folder.path, 'services'),
        env,
        progress,
        signal: options.signal,
      },
    );
    if (!temporal || !redis) throw new Error('both servers were asked for');
    return {
      temporal: {
        address: temporal.address,
        namespace: temporal.namespace,
        uiUrl: temporal.uiUrl,
        pid: temporal.process.pid,
      },
      redis: { url: redis.url, pid: redis.process.pid },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
