import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { createClient } from 'redis';
import { startServices } from '../src/cli/embedded/start-services';
import { bundleWorkflows } from '../src/workers/bundle-workflows';
import { SEARCH_ATTRIBUTES } from '../src/workflows/search-attributes';
import { startReceiver, type Receiver } from '../test/support/receiver';
import { SERVICES_VARIABLE, type TestServices } from '../test/support/services';
import { startStack, type Stack } from '../test/support/stack';
import { createBareActivities, type BareActivities } from './bare/activities';

/** Both sides of every comparison, on the same servers and in the same process. */
export interface System {
  readonly ours: Stack;
  readonly receiver: Receiver;
  readonly bare: {
    readonly client: Client;
    readonly taskQueue: string;
    readonly activities: BareActivities;
  };
  readonly versions: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

const BARE_QUEUE = 'bare';

/** What a receiver of hooks gets is about this large; the bare side sends as much. */
const BODY = JSON.stringify({ input: { to: 'ACME', amount: 5 }, padding: 'x'.repeat(700) });

export async function startSystem(): Promise<System> {
  const dataDir = await mkdtemp(join(tmpdir(), 'portcullis-bench-'));
  const services = await startServices({
    dataDir,
    servicesDir: resolve(__dirname, '../.cache/services'),
    searchAttributes: SEARCH_ATTRIBUTES,
    dynamicConfig: {},
  });
  const { address, namespace } = services.temporal;
  const bundlePath = join(dataDir, 'ours.js');
  await writeFile(bundlePath, await bundleWorkflows());
  const workflowsPath = resolve(__dirname, 'bare/workflows.ts');
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
  const forStack: TestServices = {
    ...{ temporalAddress: address, namespace, redisUrl: services.redis.url, bundlePath, dataDir },
  };
  process.env[SERVICES_VARIABLE] = JSON.stringify(forStack);
  const ours = await startStack();
  const receiver = await startReceiver();

  const redis = newRedis(services.redis.url);
  await redis.connect();
  const activities = createBareActivities(redis, BODY);
  const native = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection: native,
    namespace,
    taskQueue: BARE_QUEUE,
    workflowBundle: { code },
    activities,
  });
  const running = worker.run();
  const connection = await Connection.connect({ address });
  return {
    ours,
    receiver,
    bare: { client: new Client({ connection, namespace }), taskQueue: BARE_QUEUE, activities },
    versions: await versionsOf(connection, redis),
    async stop() {
      worker.shutdown();
      await running;
      await ours.stop();
      await receiver.close();
      await Promise.all([native.close(), connection.close(), redis.close()]);
      await services.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

const newRedis = (url: string) => createClient({ url });

async function versionsOf(
  connection: Connection,
  redis: ReturnType<typeof newRedis>,
): Promise<Record<string, string>> {
  const { serverVersion } = await connection.workflowService.getSystemInfo({});
  const info = await redis.info('server');
  const store = /(?:valkey|redis)_version:(\S+)/.exec(info)?.[1];
  return { node: process.version, temporal: serverVersion ?? 'unknown', store: store ?? 'unknown' };
}
