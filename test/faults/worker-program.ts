import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { closable } from '../../src/cli/service/temporal-connection';
import type { CommitStep } from '../../src/activities/call-store';
import { openTenantStore } from '../../src/store/tenant-store';
import { TenantStores } from '../../src/store/tenant-stores';
import { createActivities, createWorker } from '../../src/workers/worker';
import { testOutbound, testSecrets, testToolbox } from '../support/hook-service';
import { inOrder, withCrashPoint } from './crash-point';
import { announce, readSetup } from './program-setup';

/**
 * The real worker in a process of its own. Crash points: `<moment>-commitStep:<number of the step>`, and
 * `<moment>-<name of another activity>:<n-th call of it>`, and `<moment>-run:<n>` where a tool is run.
 */
async function main(): Promise<void> {
  const { temporalAddress: address, namespace, redisUrl: url, tenant, ...setup } = readSetup();
  Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
  const stores = new TenantStores([await openTenantStore({ tenant, url, onError: () => undefined })]);
  const http = testOutbound();
  const secrets = testSecrets(tenant);
  const toolbox = testToolbox(http, secrets);
  const crashesInTool = /-run:\d+$/.test(setup.crashAt ?? '');
  const options = {
    connection: await NativeConnection.connect({ address }),
    client: new Client({ connection: await Connection.connect(closable({ address })), namespace }),
    namespace,
    taskQueue: setup.taskQueue,
    stores,
    // `run` is no activity: between what the tool did and the report of it.
    toolbox: crashesInTool ? withCrashPoint(toolbox, setup.crashAt) : toolbox,
    workflowBundle: { codePath: setup.bundlePath },
    hooks: {
      http,
      secrets,
      ...(setup.nexusUrl !== undefined && { publicUrl: setup.nexusUrl }),
    },
  };
  const callsOf = inOrder();
  const stepOf = (name: string, [step]: readonly unknown[]): number =>
    name === 'commitStep' ? (step as CommitStep).transition.n : callsOf();
  const worker = await createWorker(
    options,
    crashesInTool
      ? createActivities(options)
      : withCrashPoint(createActivities(options), setup.crashAt, stepOf),
  );
  const running = worker.run();
  announce({});
  await running;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
