import { join } from 'node:path';

import { secretsFileIn } from '../first-secrets';
import type { EmbeddedSettings } from '../embedded/embedded-settings';

export interface ChildAddresses {
  readonly temporalAddress: string;
  readonly temporalNamespace: string;
  readonly tenants: string;
  readonly nexusPort: number;
}

/** What Nexus and the worker are told. They read their Temporal connection with `@temporalio/envconfig`. */
export function childEnvironment(
  env: NodeJS.ProcessEnv,
  settings: EmbeddedSettings,
  { temporalAddress, temporalNamespace, tenants, nexusPort }: ChildAddresses,
): NodeJS.ProcessEnv {
  const own = withoutManagerSettings(env);
  return {
    ...(settings.temporal.kind === 'embedded' ? withoutTemporalSettings(own, settings.dataDir) : own),
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE: temporalNamespace,
    PORTCULLIS_TENANTS: tenants,
    PORTCULLIS_PORT: String(nexusPort),
    PORTCULLIS_DATA: settings.dataDir,
    PORTCULLIS_MODE: 'development',
    PORTCULLIS_PUBLIC_URL: env['PORTCULLIS_PUBLIC_URL'] ?? `http://127.0.0.1:${nexusPort}`,
    PORTCULLIS_SECRETS_FILE: env['PORTCULLIS_SECRETS_FILE'] ?? secretsFileIn(settings.dataDir),
  };
}

/** What Manager is told of the environment: nothing of tenants and their stores. */
export function managerEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(TEMPORAL_|PORTCULLIS_TENANTS$)/.test(name)),
  );
}

/** The secret of the deployment is Manager's alone. */
function withoutManagerSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(CODER_HOOK_|PORTCULLIS_MANAGER_)/.test(name)),
  );
}

/**
 * TLS and keys of the person's default profile would be applied to the embedded server's address too, so the children are pointed to
 * a profile file that does not exist. (An empty one would not do: `@temporalio/envconfig` 1.24 fails on it.)
 */
function withoutTemporalSettings(env: NodeJS.ProcessEnv, dataDir: string): NodeJS.ProcessEnv {
  const others = Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_'));
  return { ...Object.fromEntries(others), TEMPORAL_CONFIG_FILE: join(dataDir, 'no-temporal-profile.toml') };
}
