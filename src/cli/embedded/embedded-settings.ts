import { join, resolve } from 'node:path';

import { externalTemporal, type ExternalTemporal } from './external-temporal';
import { externalTenants, type ExternalTenants } from './external-tenants';
import type { AppendFsync } from './redis-server';
import { SETTINGS, type SettingName, type SettingOptions } from './setting-table';
import { StartError } from './start-error';

interface EmbeddedTemporalSettings {
  readonly kind: 'embedded';
  readonly port: number;
  readonly uiPort: number;
  readonly binary: string | undefined;
}

interface EmbeddedRedisSettings {
  readonly kind: 'embedded';
  readonly port: number;
  readonly appendFsync: AppendFsync;
  readonly binary: string | undefined;
}

/** All settings of `portcullis up`, valid and with absolute paths. Nothing else reads the environment for them. */
export interface EmbeddedSettings {
  readonly dataDir: string;
  readonly servicesDir: string;
  readonly nexusPort: number;
  readonly managerPort: number;
  readonly temporal: EmbeddedTemporalSettings | ExternalTemporal;
  readonly redis: EmbeddedRedisSettings | ExternalTenants;
}

/** An option wins over its variable; an empty variable is an unset one. Throws `StartError` `bad_setting`. */
export function resolveSettings(
  options: SettingOptions,
  env: NodeJS.ProcessEnv,
  workingDirectory = process.cwd(),
): EmbeddedSettings {
  const read = (name: SettingName): string | undefined => {
    const { env: variable, fallback }: { env: string; fallback?: string } = SETTINGS[name];
    return String(options[name] ?? env[variable] ?? '').trim() || fallback;
  };
  const path = (name: SettingName): string | undefined => {
    const value = read(name);
    return value === undefined ? undefined : resolve(workingDirectory, value);
  };
  const dataDir = path('data') ?? workingDirectory;
  const settings: EmbeddedSettings = {
    dataDir,
    servicesDir: path('services') ?? join(dataDir, 'services'),
    nexusPort: port('port', read('port')),
    managerPort: port('managerPort', read('managerPort')),
    temporal: externalTemporal(env) ?? {
      kind: 'embedded',
      port: port('temporalPort', read('temporalPort')),
      uiPort: port('temporalUiPort', read('temporalUiPort')),
      binary: path('temporalBinary'),
    },
    redis: externalTenants(env) ?? {
      kind: 'embedded',
      port: port('redisPort', read('redisPort')),
      appendFsync: appendFsync(read('redisFsync')),
      binary: path('redisBinary'),
    },
  };
  refuseSharedPorts(settings);
  return settings;
}

function port(name: SettingName, value: string | undefined): number {
  const number = /^\d{1,5}$/.test(value ?? '') ? Number(value) : Number.NaN;
  if (number <= 65_535) return number;
  throw new StartError(
    'bad_setting',
    `${SETTINGS[name].env}: "${value}" is not a port. Give a number from 0 to 65535.`,
  );
}

function appendFsync(value: string | undefined): AppendFsync {
  if (value === 'always' || value === 'everysec') return value;
  throw new StartError(
    'bad_setting',
    `${SETTINGS.redisFsync.env}: "${value}" is neither "always" nor "everysec".`,
  );
}

function refuseSharedPorts({ nexusPort, managerPort, temporal, redis }: EmbeddedSettings): void {
  const uses: [SettingName, number][] = [
    ['port', nexusPort],
    ['managerPort', managerPort],
  ];
  if (temporal.kind === 'embedded')
    uses.push(['temporalPort', temporal.port], ['temporalUiPort', temporal.uiPort]);
  if (redis.kind === 'embedded') uses.push(['redisPort', redis.port]);
  for (const [index, [name, number]] of uses.entries()) {
    const earlier = uses.slice(0, index).find(([, other]) => other === number && number !== 0);
    if (earlier)
      throw new StartError(
        'bad_setting',
        `${SETTINGS[earlier[0]].env} and ${SETTINGS[name].env} are both ${number}. Give each its own port.`,
      );
  }
}
