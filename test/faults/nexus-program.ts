import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { closable } from '../../src/cli/service/temporal-connection';
import { startNexus } from '../../src/server/nexus/start-nexus';
import { openTenantStore } from '../../src/store/tenant-store';
import { TenantStores } from '../../src/store/tenant-stores';
import { testOutbound, testSecrets, testToolbox } from '../support/hook-service';
import { withCrashPoint } from './crash-point';
import { announce, readSetup } from './program-setup';

/** The real Nexus in a process of its own. Crash points: `<moment>-<method of CallGateway>:<n-th call of it>`. */
async function main(): Promise<void> {
  const { temporalAddress: address, namespace, redisUrl: url, tenant, taskQueue, crashAt } = readSetup();
  const { url: nexusUrl } = await startNexus({
    stores: new TenantStores([await openTenantStore({ tenant, url, onError: () => undefined })]),
    client: new Client({ connection: await Connection.connect(closable({ address })), namespace }),
    taskQueue,
    secrets: testSecrets(tenant),
    toolbox: testToolbox(testOutbound(), testSecrets(tenant)),
    version: '0.0.0',
    development: true,
    host: '127.0.0.1',
    port: 0,
    log: pino({ level: 'error' }),
    wrapGateway: (gateway) => withCrashPoint(gateway, crashAt),
  });
  announce({ url: nexusUrl });
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
