import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { closable } from '../../src/cli/service/temporal-connection';
import { createCallWorkflows, createTurnWorkflows } from '../../src/activities/call-workflows';
import { reconcileTenant, type Reconciled } from '../../src/activities/reconcile-tenant';
import type { Scope } from '../../src/domain/principal';
import { startNexus } from '../../src/server/nexus/start-nexus';
import { openTenantStore, type TenantStore } from '../../src/store/tenant-store';
import { TenantStores } from '../../src/store/tenant-stores';
import { Api } from '../support/api';
import { testOutbound, testSecrets, testToolbox } from '../support/hook-service';
import { testServices } from '../support/services';
import { startProgram, type ChildProgram } from './child-program';

/** The two servers that a scene is played on. */
export interface Servers {
  readonly temporalAddress: string;
  readonly redisUrl: string;
}

/** Members of a `client` processor; with `url`, of a `url` processor. */
export interface Approval {
  readonly asyncTimeoutMs?: number;
  readonly minApprovals?: number;
  readonly url?: string;
  readonly retries?: number;
  readonly point?: 'before_tool_call' | 'after_tool_call';
}

/**
 * A tenant with one profile and one thread. Nexus runs in the test's process and lives; workers, and Nexuses that are
 * to die, are processes that the scene starts.
 */
export interface Scene {
  readonly tenant: string;
  readonly store: TenantStore;
  readonly client: Client;
  readonly threadId: string;
  /** Where calls of the thread are made. */
  readonly calls: string;
  /** Makes calls. */
  readonly agent: Api;
  /** Two who may resolve and read everything. */
  readonly ann: Api;
  readonly bob: Api;
  /** `redisUrl`: another way to the store than Nexus has. */
  worker(crashAt?: string, redisUrl?: string): Promise<ChildProgram>;
  nexus(crashAt?: string): Promise<ChildProgram>;
  /** One pass of the reconciler as it would be this much later; default: when nothing is too young. */
  reconcile(aheadMs?: number): Promise<Reconciled>;
  close(): Promise<void>;
}

export interface SceneOptions {
  /** Default: those of the run. */
  readonly servers?: Servers;
  /** What stands before the tool `pay`; no hook stands before any other. */
  readonly hooks: readonly Approval[];
  /** More of the profile's configuration. */
  readonly configuration?: object;
  readonly outputTimeoutMs?: number;
  /** How long Nexus keeps its callers waiting for Temporal; default as in production. */
  readonly decisionTimeoutMs?: number;
}

/** Plays a scene and ends everything that it has started. */
export async function playScene(options: SceneOptions, play: (scene: Scene) => Promise<void>): Promise<void> {
  const scene = await openScene(options);
  try {
    await play(scene);
  } finally {
    await scene.close();
  }
}

async function openScene(options: SceneOptions): Promise<Scene> {
  const { servers = testServices(), hooks, outputTimeoutMs, decisionTimeoutMs } = options;
  const tenant = `f-${randomUUID().slice(0, 13)}`;
  const { namespace, bundlePath } = testServices();
  const store = await openTenantStore({ tenant, url: servers.redisUrl, onError: () => undefined });
  const stores = new TenantStores([store]);
  const connection = await Connection.connect(closable({ address: servers.temporalAddress }));
  const client = new Client({ connection, namespace });
  const log = pino({ level: 'silent' });
  const nexus = await startNexus({
    ...{ stores, client, taskQueue: tenant, host: '127.0.0.1', port: 0, log },
    ...{ secrets: testSecrets(tenant), development: true },
    toolbox: testToolbox(testOutbound(), testSecrets(tenant)),
    version: '0.0.0',
    ...(decisionTimeoutMs !== undefined && { decisionTimeoutMs }),
  });
  const programs: ChildProgram[] = [];
  const start = async (
    program: 'worker-program' | 'nexus-program',
    crashAt?: string,
    redisUrl = servers.redisUrl,
  ): Promise<ChildProgram> => {
    const { temporalAddress } = servers;
    const setup = {
      ...{ temporalAddress, redisUrl, namespace, bundlePath, tenant, taskQueue: tenant },
      nexusUrl: nexus.url,
    };
    const child = await startProgram(program, { ...setup, ...(crashAt !== undefined && { crashAt }) });
    programs.push(child);
    return child;
  };
  const as = async (owner: string, scopes: readonly Scope[]): Promise<Api> => {
    const createdAt = new Date().toISOString();
    const { token } = await store.apiKeys.create({ owner, scopes, createdAt });
    return new Api(nexus.url, token);
  };
  const root = await as('root', ['admin']);
  const agent = await as('agent', ['calls']);
  const profile = await root.post('/v1/profiles', {
    name: 'guarded',
    configuration: {
      hooks: hooks.map(approvalHook),
      ...(outputTimeoutMs !== undefined && { timeouts: { outputTimeoutMs } }),
      ...options.configuration,
    },
  });
  expect(profile.status).toBe(201);
  const thread = await agent.post('/v1/threads', { profileId: profile.body.id as string });
  const threadId = thread.body.id as string;
  return {
    tenant,
    store,
    client,
    threadId,
    calls: `/v1/threads/${threadId}/tool-calls`,
    agent,
    ann: await as('ann', ['waits:resolve', 'read']),
    bob: await as('bob', ['waits:resolve', 'read']),
    worker: (crashAt, redisUrl) => start('worker-program', crashAt, redisUrl),
    nexus: (crashAt) => start('nexus-program', crashAt),
    reconcile: (aheadMs = 61_000) =>
      reconcileTenant(
        {
          stores,
          workflows: createCallWorkflows(client.workflow, tenant),
          turnWorkflows: createTurnWorkflows(client.workflow, tenant),
        },
        { tenant, now: Date.now() + aheadMs, onProgress: () => undefined },
      ),
    async close() {
      await Promise.all(programs.map((program) => program.kill()));
      await nexus.close(0);
      await connection.close();
      await store.close();
    },
  };
}

function approvalHook({ point = 'before_tool_call', ...processor }: Approval, index: number) {
  return {
    id: `gate-${index + 1}`,
    point,
    match: { tools: ['pay'] },
    processor: { type: processor.url === undefined ? 'client' : 'url', ...processor },
  };
}
