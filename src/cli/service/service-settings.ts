import { loadClientConnectConfig } from '@temporalio/envconfig';
import { z } from 'zod';
import { SettingsError } from './settings-error';
import { parseTenants, type TenantAddress } from './tenant-list';

type ClientConnectConfig = ReturnType<typeof loadClientConnectConfig>;

/** What the processes `nexus` and `worker` need to know, checked once. */
export interface ServiceSettings {
  readonly temporal: {
    readonly connection: ClientConnectConfig['connectionOptions'];
    readonly namespace: string;
  };
  readonly tenants: readonly TenantAddress[];
  readonly taskQueue: string;
  readonly host: string;
  readonly port: number;
  readonly logLevel: string;
}

const variables = z.object({
  PORTCULLIS_TENANTS: z.string({
    error: 'set PORTCULLIS_TENANTS to <tenant>=<redis-url>, separated by commas',
  }),
  PORTCULLIS_TASK_QUEUE: z.string().min(1).default('portcullis'),
  PORTCULLIS_HOST: z.string().min(1).default('127.0.0.1'),
  PORTCULLIS_PORT: z
    .string()
    .regex(/^\d{1,5}$/, 'PORTCULLIS_PORT is a port number; 0 takes a free one')
    .transform(Number)
    .refine((port) => port <= 65_535, 'PORTCULLIS_PORT is at most 65535')
    .default(7_070),
  PORTCULLIS_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'PORTCULLIS_LOG_LEVEL is fatal, error, warn, info, debug, trace or silent',
    })
    .default('info'),
});

/**
 * Reads the environment. Temporal's own variables (`TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_API_KEY`,
 * `TEMPORAL_TLS…`, `TEMPORAL_PROFILE`) and profile file are read as every Temporal tool reads them.
 * @throws SettingsError that names every variable at fault and what to write
 */
export function readServiceSettings(env: NodeJS.ProcessEnv): ServiceSettings {
  const parsed = variables.safeParse(env);
  if (!parsed.success) throw new SettingsError(parsed.error.issues.map(({ message }) => message).join('\n'));
  const { connectionOptions, namespace } = loadClientConnectConfig({
    overrideEnvVars: Object.fromEntries(Object.entries(env).filter(isSet)),
  });
  return {
    temporal: { connection: connectionOptions, namespace: namespace ?? 'default' },
    tenants: parseTenants(parsed.data.PORTCULLIS_TENANTS),
    taskQueue: parsed.data.PORTCULLIS_TASK_QUEUE,
    host: parsed.data.PORTCULLIS_HOST,
    port: parsed.data.PORTCULLIS_PORT,
    logLevel: parsed.data.PORTCULLIS_LOG_LEVEL,
  };
}

function isSet(entry: [string, string | undefined]): entry is [string, string] {
  return entry[1] !== undefined;
}
