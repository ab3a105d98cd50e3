export interface Setting {
  readonly env: string;
  /** As commander writes it. */
  readonly option: string;
  readonly help: string;
  /** Shown in help; the value used when neither option nor variable is set. */
  readonly fallback?: string;
}

/** Every setting of the embedded run: an environment variable and an option of the same name. The option wins. */
export const SETTINGS = {
  data: {
    env: 'PORTCULLIS_DATA',
    option: '--data <folder>',
    fallback: '.portcullis',
    help: 'folder of the databases, keys and logs',
  },
  services: {
    env: 'PORTCULLIS_SERVICES',
    option: '--services <folder>',
    help: 'where servers that are not on PATH are installed; may be shared by many data folders (default: <data>/services)',
  },
  port: {
    env: 'PORTCULLIS_PORT',
    option: '--port <port>',
    fallback: '7070',
    help: 'port of Nexus; 0 takes a free one',
  },
  managerPort: {
    env: 'PORTCULLIS_MANAGER_PORT',
    option: '--manager-port <port>',
    fallback: '7071',
    help: 'port of Manager; 0 takes a free one',
  },
  temporalPort: {
    env: 'PORTCULLIS_TEMPORAL_PORT',
    option: '--temporal-port <port>',
    fallback: '7233',
    help: 'port of the embedded Temporal; 0 takes a free one',
  },
  temporalUiPort: {
    env: 'PORTCULLIS_TEMPORAL_UI_PORT',
    option: '--temporal-ui-port <port>',
    fallback: '8233',
    help: 'port of its UI; 0 takes a free one',
  },
  redisPort: {
    env: 'PORTCULLIS_REDIS_PORT',
    option: '--redis-port <port>',
    fallback: '6390',
    help: 'port of the embedded Valkey or Redis; 0 takes a free one',
  },
  redisFsync: {
    env: 'PORTCULLIS_REDIS_FSYNC',
    option: '--redis-fsync <when>',
    fallback: 'always',
    help:
      'always: every write is on the disk before it is answered; everysec: faster, and a power failure may lose the answered ' +
      'writes of the last two seconds',
  },
  temporalBinary: {
    env: 'PORTCULLIS_TEMPORAL_BINARY',
    option: '--temporal-binary <path>',
    help: 'the Temporal CLI to use (default: `temporal` on PATH, else fetched)',
  },
  redisBinary: {
    env: 'PORTCULLIS_REDIS_BINARY',
    option: '--redis-binary <path>',
    help: 'the server to use (default: `valkey-server` or `redis-server` on PATH, else fetched)',
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;

/** What the command line gave, as commander names it. */
export type SettingOptions = Readonly<Partial<Record<SettingName, string | number | undefined>>>;
