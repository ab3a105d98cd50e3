import { loadClientConfigProfile } from '@temporalio/envconfig';

import { StartError } from './start-error';

export interface ExternalTemporal {
  readonly kind: 'external';
  readonly address: string;
  readonly namespace: string;
}

/** The profile file of every person who uses the Temporal CLI has a default profile; only one that was named on purpose counts. */
const NAMED_ON_PURPOSE = ['TEMPORAL_ADDRESS', 'TEMPORAL_PROFILE', 'TEMPORAL_CONFIG_FILE'];

/** The Temporal which the environment names, if it names one. Throws `StartError` `bad_setting`. */
export function externalTemporal(env: NodeJS.ProcessEnv): ExternalTemporal | undefined {
  const named = NAMED_ON_PURPOSE.filter((name) => (env[name] ?? '') !== '');
  if (named.length === 0) return undefined;
  try {
    const { address, namespace } = loadClientConfigProfile({ overrideEnvVars: definedOnly(env) });
    if (address !== undefined) return { kind: 'external', address, namespace: namespace ?? 'default' };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StartError('bad_setting', `${named.join(', ')}: the Temporal profile cannot be read: ${why}`, {
      cause,
    });
  }
  throw new StartError(
    'bad_setting',
    `${named.join(', ')}: the Temporal profile has no address. Give it one, or unset the variable for an embedded Temporal.`,
  );
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value ? [[name, value]] : [])));
}
