import { z } from 'zod';
import { MIN_SECRET_BYTES, secretBytes } from '../../coder/token';
import { SettingsError } from './settings-error';

/** What the process `manager` needs to know, checked once. */
export interface ManagerSettings {
  readonly redisUrl: string;
  readonly audience: string;
  /** Newest first. */
  readonly secrets: readonly string[];
  readonly issuer?: string;
  readonly name: string;
  readonly budgetMs: number;
  readonly host: string;
  readonly port: number;
  readonly logLevel: string;
}

/** Secrets that stand in examples, and that somebody would leave as they are. */
const WELL_KNOWN = /^(change-?me|secret|default|example|test|password|coder)/i;

const secret = (name: string) =>
  z
    .string({ error: `set ${name} to the secret that Coder signs with` })
    .refine((text) => secretBytes(text).length >= MIN_SECRET_BYTES, {
      error: `${name} is shorter than ${MIN_SECRET_BYTES} bytes; set a random one of at least that length`,
    })
    .refine((text) => !WELL_KNOWN.test(text), {
      error: `${name} looks like one from an example; set a random one of at least ${MIN_SECRET_BYTES} bytes`,
    });

const variables = z.object({
  PORTCULLIS_MANAGER_REDIS: z
    .string({
      error: "set PORTCULLIS_MANAGER_REDIS to the address of Manager's own Redis, redis:// or rediss://",
    })
    .regex(/^rediss?:\/\//, 'PORTCULLIS_MANAGER_REDIS is not a redis:// or rediss:// URL'),
  CODER_HOOK_AUDIENCE: z.url({
    protocol: /^https?$/,
    error: 'set CODER_HOOK_AUDIENCE to the URL that Coder is given for its chat hooks, verbatim',
  }),
  CODER_HOOK_SECRET: secret('CODER_HOOK_SECRET'),
  CODER_HOOK_SECRET_PREVIOUS: secret('CODER_HOOK_SECRET_PREVIOUS').optional(),
  CODER_HOOK_ISSUER: z.string().min(1).optional(),
  CODER_HOOK_BUDGET_MS: z
    .string()
    .regex(/^\d{2,5}$/, 'CODER_HOOK_BUDGET_MS is a number of milliseconds')
    .transform(Number)
    .refine((ms) => ms >= 50 && ms <= 10_000, 'CODER_HOOK_BUDGET_MS is 50 to 10000')
    .default(1_200),
  PORTCULLIS_MANAGER_NAME: z.string().min(1).max(128).default('portcullis-manager'),
  PORTCULLIS_MANAGER_HOST: z.string().min(1).default('127.0.0.1'),
  PORTCULLIS_MANAGER_PORT: z
    .string()
    .regex(/^\d{1,5}$/, 'PORTCULLIS_MANAGER_PORT is a port number; 0 takes a free one')
    .transform(Number)
    .refine((port) => port <= 65_535, 'PORTCULLIS_MANAGER_PORT is at most 65535')
    .default(7_071),
  PORTCULLIS_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'PORTCULLIS_LOG_LEVEL is fatal, error, warn, info, debug, trace or silent',
    })
    .default('info'),
});

/** @throws SettingsError that names every variable at fault and what to write, and no value */
export function readManagerSettings(env: NodeJS.ProcessEnv): ManagerSettings {
  const parsed = variables.safeParse(env);
  if (!parsed.success) throw new SettingsError(parsed.error.issues.map(({ message }) => message).join('\n'));
  const read = parsed.data;
  const { CODER_HOOK_SECRET_PREVIOUS: previous, CODER_HOOK_ISSUER: issuer } = read;
  return {
    redisUrl: read.PORTCULLIS_MANAGER_REDIS,
    audience: read.CODER_HOOK_AUDIENCE,
    secrets: [read.CODER_HOOK_SECRET, ...(previous === undefined ? [] : [previous])],
    ...(issuer !== undefined && { issuer }),
    name: read.PORTCULLIS_MANAGER_NAME,
    budgetMs: read.CODER_HOOK_BUDGET_MS,
    host: read.PORTCULLIS_MANAGER_HOST,
    port: read.PORTCULLIS_MANAGER_PORT,
    logLevel: read.PORTCULLIS_LOG_LEVEL,
  };
}
