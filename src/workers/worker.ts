import type { Client } from '@temporalio/client';
import { Worker, type NativeConnection, type WorkflowBundleOption } from '@temporalio/worker';
import { createCallStoreActivities, type CallStoreActivities } from '../activities/call-store';
import {
  createHookActivities,
  type HookActivities,
  type HookDependencies,
} from '../activities/hook-activities';
import { createTurnActivities, type TurnActivities } from '../activities/turn-activities';
import { createToolActivities, type ToolActivities } from '../activities/tool-activities';
import { ModelCaller } from '../model/model-caller';
import { createReconcileActivities, type ReconcileActivities } from '../activities/reconcile';
import { createCallWorkflows, createTurnWorkflows } from '../activities/call-workflows';
import type { TenantStores } from '../store/tenant-stores';
import type { Toolbox } from '../tools/toolbox';

export interface WorkerOptions {
  readonly connection: NativeConnection;
  /** For the reconciler, which describes and messages workflows. */
  readonly client: Client;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly stores: TenantStores;
  readonly workflowBundle: WorkflowBundleOption;
  /** How hooks are asked by HTTP. */
  readonly hooks: Omit<HookDependencies, 'stores'>;
  readonly toolbox: Toolbox;
  readonly identity?: string;
}

export type Activities = CallStoreActivities &
  HookActivities &
  ReconcileActivities &
  ToolActivities &
  TurnActivities;

export function createActivities({ client, taskQueue, stores, hooks, toolbox }: WorkerOptions): Activities {
  const workflows = createCallWorkflows(client.workflow, taskQueue);
  const turnWorkflows = createTurnWorkflows(client.workflow, taskQueue);
  return {
    ...createCallStoreActivities({ stores }),
    ...createHookActivities({ stores, ...hooks }),
    ...createReconcileActivities({ stores, workflows, turnWorkflows }),
    ...createToolActivities({ stores, toolbox }),
    ...createTurnActivities({ stores, model: new ModelCaller(hooks), workflows, toolbox }),
  };
}

/** Longer than the longest local activity, so that a stopping worker finishes what it has begun. */
const SHUTDOWN_GRACE = '10 s';

/** A worker for all workflows and activities of the tenants it has stores for. `activities` is given by fault tests. */
export function createWorker(
  options: WorkerOptions,
  activities = createActivities(options),
): Promise<Worker> {
  return Worker.create({
    connection: options.connection,
    namespace: options.namespace,
    taskQueue: options.taskQueue,
    workflowBundle: options.workflowBundle,
    activities,
    // Parked calls may leave the cache: their histories are short and replay in milliseconds.
    maxCachedWorkflows: 1_000,
    // A worker that died holds its sticky queue: the next message is given to another one after this time.
    stickyQueueScheduleToStartTimeout: '5 s',
    // An activity learns with its heartbeat that nobody wants it any more.
    maxHeartbeatThrottleInterval: '2 s',
    shutdownGraceTime: SHUTDOWN_GRACE,
    shutdownForceTime: '20 s',
    ...(options.identity !== undefined && { identity: options.identity }),
  });
}
