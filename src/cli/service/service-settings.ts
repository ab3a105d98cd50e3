import { loadClientConnectConfig } from '@temporalio/envconfig';
import { z } from 'zod';
import { parseAllowList, type AllowList } from '../../outbound/address-rules';
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
  /** Accepts hooks at `http://localhost`. */
  readonly development: boolean;
  /** Where receivers of hooks reach Nexus; without it no late answers are taken. */
  readonly publicUrl?: string;
  /** Addresses that are reached although they are private, local or reserved. */
  readonly allowedAddresses: AllowList;
  readonly secretsFile?: string;
  /** Programs that speak MCP. */
  readonly mcpServersFile?: string;
  /** The URL under which Manager relays Coder's events. */
  readonly hookAudience?: string;
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
  PORTCULLIS_MODE: z
    .enum(['production', 'development'], { error: 'PORTCULLIS_MODE is production or development' })
    .default('production'),
  PORTCULLIS_PUBLIC_URL: z
    .url({
      protocol: /^https?$/,
      error: 'PORTCULLIS_PUBLIC_URL is where hooks reach Nexus, such as https://portcullis.example.com',
    })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  PORTCULLIS_ALLOWED_ADDRESSES: z
    .string()
    .default('')
    .transform((text, ctx) => {
      try {
        return parseAllowList(text);
      } catch (error) {
        ctx.addIssue({
          code: 'custom',
          message: `PORTCULLIS_ALLOWED_ADDRESSES: ${error instanceof Error ? error.message : 'not readable'}`,
        });
        return z.NEVER;
      }
    }),
  PORTCULLIS_SECRETS_FILE: z.string().min(1).optional(),
  PORTCULLIS_MCP_SERVERS_FILE: z.string().min(1).optional(),
  PORTCULLIS_HOOK_AUDIENCE: z
    .url({
      protocol: /^https?$/,
      error: 'PORTCULLIS_HOOK_AUDIENCE is the URL under which Manager reaches the hook server, verbatim',
    })
    .optional(),
});

/**
 * Reads the environment. Temporal's own variables (`TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_API_KEY`,
 * `TEMPORAL_TLS…`, `TEMPORAL_PROFILE`) and profile file are read as every Temporal tool reads them.
 * @throws SettingsError that names every variable at fault and what to write
 */
export function readServiceSettings(env: NodeJS.ProcessEnv): ServiceSettings {
  const parsed = variables.safeParse(env);
  if (!parsed.success) throw new SettingsError(parsed.error.issues.map(({ message }) => message).join('\n'));
  const {
    PORTCULLIS_PUBLIC_URL: publicUrl,
    PORTCULLIS_SECRETS_FILE: secretsFile,
    PORTCULLIS_MCP_SERVERS_FILE: mcpServersFile,
    PORTCULLIS_HOOK_AUDIENCE: hookAudience,
  } = parsed.data;
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
    development: parsed.data.PORTCULLIS_MODE === 'development',
    allowedAddresses: parsed.data.PORTCULLIS_ALLOWED_ADDRESSES,
    ...(publicUrl !== undefined && { publicUrl }),
    ...(secretsFile !== undefined && { secretsFile }),
    ...(mcpServersFile !== undefined && { mcpServersFile }),
    ...(hookAudience !== undefined && { hookAudience }),
  };
}

function isSet(entry: [string, string | undefined]): entry is [string, string] {
  return entry[1] !== undefined;
}
