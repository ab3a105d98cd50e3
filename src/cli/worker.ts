import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';
import { ensureReconcileSchedule } from '../workers/reconcile-schedule';
import { createWorker } from '../workers/worker';
import { connectTemporal } from './service/connect-temporal';
import { createLogger } from './service/logger';
import { openSecrets } from './service/open-secrets';
import { closeStores, openStores } from './service/open-stores';
import { openToolbox } from './service/open-toolbox';
import { announceReady, stopRequested } from './service/run-until-stopped';
import { readServiceSettings } from './service/service-settings';

const BUNDLE = join(__dirname, '..', 'workflows.bundle.js');

/** `portcullis worker`: runs workflows and activities until it is asked to stop. */
export async function runWorker(env: NodeJS.ProcessEnv): Promise<void> {
  const settings = readServiceSettings(env);
  const log = createLogger('worker', settings.logLevel);
  // The runtime must not take the signals for itself: the stores are closed after the worker, in this order.
  Runtime.install({ logger: temporalLogger(log), shutdownSignals: [] });
  const secrets = openSecrets(settings.secretsFile, env);
  const stores = await openStores(settings.tenants, secrets, log);
  const { namespace, connection: address } = settings.temporal;
  const clientConnection = await connectTemporal(settings);
  const connection = await NativeConnection.connect(address);
  const client = new Client({ connection: clientConnection, namespace });
  const { taskQueue } = settings;
  for (const { tenant } of settings.tenants) await ensureReconcileSchedule(client, { tenant, taskQueue });

  const { publicUrl } = settings;
  const { http, toolbox } = openToolbox(settings, secrets);
  const worker = await createWorker({
    connection,
    client,
    namespace,
    taskQueue,
    stores,
    toolbox,
    workflowBundle: { codePath: BUNDLE },
    hooks: { http, secrets, ...(publicUrl !== undefined && { publicUrl }) },
  });
  const running = worker.run();
  announceReady();
  const reason = await Promise.race([stopRequested(), running.then(() => 'the worker ended')]);
  log.info({ reason }, 'worker stops');
  if (worker.getState() === 'RUNNING') worker.shutdown();
  await running;
  await toolbox.close();
  await http.close();
  await connection.close();
  await clientConnection.close();
  await closeStores(stores.all());
}

function temporalLogger(log: Logger): DefaultLogger {
  return new DefaultLogger('INFO', ({ level, message, meta }) => {
    const { sdkComponent, ...fields } = meta ?? {};
    const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;
    log[levels[level]]({ ...fields, component: sdkComponent }, message);
  });
}
