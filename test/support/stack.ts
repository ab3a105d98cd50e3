import { randomUUID } from 'node:crypto';
import { Client, Connection, type ConnectionLike } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { closable } from '../../src/cli/service/temporal-connection';
import type { DefaultHookSet } from '../../src/domain/default-hooks';
import type { Scope } from '../../src/domain/principal';
import { startNexus } from '../../src/server/nexus/start-nexus';
import type { Listening } from '../../src/server/http/listen';
import { openTenantStore, type TenantStore } from '../../src/store/tenant-store';
import { TenantStores } from '../../src/store/tenant-stores';
import { createActivities, createWorker, type Activities } from '../../src/workers/worker';
import { Api } from './api';
import type { OperatorServer } from '../../src/tools/operator-servers';
import { testOutbound, testSecrets, testToolbox } from './hook-service';
import { testServices } from './services';
import { SkippingWorkflowClient } from './skipping-client';

/** Under which the hook server of every stack is addressed. */
export const HOOK_AUDIENCE = 'https://nexus.example.com/experimental/hooks/chat';

export interface StackOptions {
  /** Workflows are started with time skipping: every wait of theirs is over at once. */
  readonly skipTime?: boolean;
  readonly defaultHooks?: DefaultHookSet;
  readonly decisionTimeoutMs?: number;
  /** Programs that speak MCP, as an operator would declare them. */
  readonly mcpServers?: ReadonlyMap<string, OperatorServer>;
  /** Default true. */
  readonly worker?: boolean;
  readonly wrapActivities?: (activities: Activities) => Activities;
}

/** A tenant of its own on the run's real servers, with a Nexus and a worker in this process. */
export interface Stack {
  readonly tenant: string;
  readonly taskQueue: string;
  readonly store: TenantStore;
  readonly stores: TenantStores;
  readonly client: Client;
  readonly nexus: Listening;
  /** A client of the API with a new key of this owner. */
  as(owner: string, scopes: readonly Scope[], profileIds?: readonly string[]): Promise<Api>;
  startWorker(): Promise<RunningWorker>;
  stop(): Promise<void>;
}

export interface RunningWorker {
  stop(): Promise<void>;
}

class SkippingClient extends Client {
  override readonly workflow: SkippingWorkflowClient;

  constructor(options: { connection: ConnectionLike; namespace: string }) {
    super(options);
    this.workflow = new SkippingWorkflowClient(options);
  }
}

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  installRuntime();
  const services = testServices();
  const tenant = `t-${randomUUID().slice(0, 13)}`;
  const taskQueue = tenant;
  const secrets = testSecrets(tenant);
  const store = await openTenantStore({
    tenant,
    url: services.redisUrl,
    onError: () => undefined,
    knownSecrets: () => secrets.all(tenant),
  });
  const stores = new TenantStores([store]);
  const connection = await Connection.connect(closable({ address: services.temporalAddress }));
  const clientOptions = { connection, namespace: services.namespace };
  const client = options.skipTime === true ? new SkippingClient(clientOptions) : new Client(clientOptions);
  const http = testOutbound();
  const toolbox = testToolbox(http, secrets, new Map([[tenant, options.mcpServers ?? new Map()]]));
  const nexus = await startNexus({
    stores,
    secrets,
    toolbox,
    version: '0.0.0',
    hookAudience: HOOK_AUDIENCE,
    development: true,
    client,
    taskQueue,
    host: '127.0.0.1',
    port: 0,
    log: pino({ level: 'silent' }),
    ...(options.defaultHooks !== undefined && { defaultHooks: options.defaultHooks }),
    ...(options.decisionTimeoutMs !== undefined && { decisionTimeoutMs: options.decisionTimeoutMs }),
  }).catch(async (error: unknown) => {
    // Open connections would keep the test process from ending with the error.
    await connection.close();
    await store.close();
    throw error;
  });
  const workers: RunningWorker[] = [];

  const startWorker = async (): Promise<RunningWorker> => {
    const native = await NativeConnection.connect({ address: services.temporalAddress });
    const workerOptions = {
      connection: native,
      client,
      namespace: services.namespace,
      taskQueue,
      stores,
      toolbox,
      workflowBundle: { codePath: services.bundlePath },
      hooks: { http, secrets, publicUrl: nexus.url },
    };
    const activities = createActivities(workerOptions);
    const worker = await createWorker(workerOptions, options.wrapActivities?.(activities) ?? activities);
    const run = worker.run();
    let stopped: Promise<void> | undefined;
    const running: RunningWorker = {
      stop: () =>
        (stopped ??= (async () => {
          worker.shutdown();
          await run;
          await native.close();
        })()),
    };
    workers.push(running);
    return running;
  };
  if (options.worker !== false) await startWorker();

  return {
    tenant,
    taskQueue,
    store,
    stores,
    client,
    nexus,
    startWorker,
    async as(owner, scopes, profileIds) {
      const { token } = await store.apiKeys.create({
        owner,
        scopes,
        createdAt: new Date().toISOString(),
        ...(profileIds !== undefined && { profileIds }),
      });
      return new Api(nexus.url, token);
    },
    async stop() {
      await nexus.close(0);
      await Promise.all(workers.map((worker) => worker.stop()));
      await toolbox.close();
      await http.close();
      await connection.close();
      await store.close();
    },
  };
}

let installed = false;

/** Once per test file: jest gives each its own module registry. */
function installRuntime(): void {
  if (installed) return;
  Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
  installed = true;
}
