import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { version as sdkVersion } from '@temporalio/worker/package.json';
import { createClient } from 'redis';
import { closable } from '../src/cli/service/temporal-connection';
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

/** Aborting `signal` interrupts the start. Whatever was started is stopped again when the start fails. */
export async function startSystem(signal: AbortSignal): Promise<System> {
  const started: Stop[] = [];
  try {
    return await startParts(started, signal);
  } catch (error) {
    await stopAll(started);
    throw error;
  }
}

type Stop = () => Promise<unknown>;

/** Last in, first out: what uses a server is stopped before it. */
async function stopAll(started: Stop[]): Promise<void> {
  for (let stop = started.pop(); stop !== undefined; stop = started.pop()) await stop();
}

async function startParts(started: Stop[], signal: AbortSignal): Promise<System> {
  const dataDir = await mkdtemp(join(tmpdir(), 'portcullis-bench-'));
  started.push(() => rm(dataDir, { recursive: true, force: true }));
  const services = await startServices({
    signal,
    dataDir,
    servicesDir: resolve(__dirname, '../.cache/services'),
    searchAttributes: SEARCH_ATTRIBUTES,
    dynamicConfig: {},
  });
  started.push(() => services.stop());
  const { address, namespace } = services.temporal;
  const bundlePath = join(dataDir, 'ours.js');
  await writeFile(bundlePath, await bundleWorkflows());
  const workflowsPath = resolve(__dirname, 'bare/workflows.ts');
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
  const forStack: TestServices = {
    ...{ temporalAddress: address, namespace, redisUrl: services.redis.url, bundlePath, dataDir },
  };
  process.env[SERVICES_VARIABLE] = JSON.stringify(forStack);
  const receiver = await startReceiver();
  started.push(() => receiver.close());
  const ours = await startStack();
  started.push(() => ours.stop());

  const redis = newRedis(services.redis.url);
  await redis.connect();
  started.push(() => redis.close());
  const activities = createBareActivities(redis, BODY);
  const native = await NativeConnection.connect({ address });
  started.push(() => native.close());
  const worker = await Worker.create({
    connection: native,
    namespace,
    taskQueue: BARE_QUEUE,
    workflowBundle: { code },
    activities,
  });
  const running = worker.run();
  started.push(() => {
    worker.shutdown();
    return running;
  });
  const connection = await Connection.connect(closable({ address }));
  started.push(() => connection.close());
  return {
    ours,
    receiver,
    bare: { client: new Client({ connection, namespace }), taskQueue: BARE_QUEUE, activities },
    versions: await versionsOf(connection, redis),
    stop: () => stopAll(started),
  };
}

const newRedis = (url: string) => createClient({ url });

async function versionsOf(
  connection: Connection,
  redis: ReturnType<typeof newRedis>,
): Promise<Record<string, string>> {
  const { serverVersion } = await connection.workflowService.getSystemInfo({});
  const info = await redis.info('server');
  // Valkey calls itself Redis 7.2.4 as well, for clients that ask for no more.
  const [, product, version] =
    /(valkey)_version:(\S+)/.exec(info) ?? /(redis)_version:(\S+)/.exec(info) ?? [];
  return {
    temporal: serverVersion ?? 'unknown',
    [product ?? 'store']: version ?? 'unknown',
    sdk: sdkVersion,
  };
}
