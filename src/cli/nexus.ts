import { Client } from '@temporalio/client';
import { startNexus } from '../server/nexus/start-nexus';
import { connectTemporal } from './service/connect-temporal';
import { createLogger } from './service/logger';
import { openSecrets } from './service/open-secrets';
import { closeStores, openStores } from './service/open-stores';
import { openToolbox } from './service/open-toolbox';
import { announceReady, stopRequested } from './service/run-until-stopped';
import { readServiceSettings } from './service/service-settings';
import { VERSION } from './service/version';

/** Requests in flight have this long to finish after a stop was asked for. */
const GRACE_MS = 10_000;

/** `portcullis nexus`: serves HTTP until it is asked to stop. */
export async function runNexus(env: NodeJS.ProcessEnv): Promise<void> {
  const settings = readServiceSettings(env);
  const log = createLogger('nexus', settings.logLevel);
  const secrets = openSecrets(settings.secretsFile, env);
  const stores = await openStores(settings.tenants, secrets, log);
  const connection = await connectTemporal(settings);
  const client = new Client({ connection, namespace: settings.temporal.namespace });
  const { host, port, taskQueue, development, publicUrl, hookAudience } = settings;
  const { http, toolbox } = openToolbox(settings, secrets);
  const nexus = await startNexus({
    ...{ stores, client, taskQueue, secrets, toolbox },
    ...{ development, host, port, log, version: VERSION },
    ...(publicUrl !== undefined && { publicUrl }),
    ...(hookAudience !== undefined && { hookAudience }),
  });
  log.info({ url: nexus.url }, 'nexus serves');
  announceReady();

  log.info({ reason: await stopRequested() }, 'nexus stops');
  await nexus.close(GRACE_MS);
  await toolbox.close();
  await http.close();
  await connection.close();
  await closeStores(stores.all());
}
