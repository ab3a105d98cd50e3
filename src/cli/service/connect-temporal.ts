import { Connection } from '@temporalio/client';
import type { ServiceSettings } from './service-settings';
import { SettingsError } from './settings-error';
import { closable } from './temporal-connection';

/** @throws SettingsError that names the address when Temporal does not answer there */
export async function connectTemporal({ temporal }: ServiceSettings): Promise<Connection> {
  try {
    return await Connection.connect(closable(temporal.connection));
  } catch (cause) {
    const address = temporal.connection.address ?? 'localhost:7233';
    throw new SettingsError(
      `Temporal does not answer at ${address}. Check TEMPORAL_ADDRESS, and for TLS or an API key the other TEMPORAL_ variables.`,
      { cause },
    );
  }
}
