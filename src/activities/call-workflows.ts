import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type WorkflowClient,
  type WorkflowHandle,
} from '@temporalio/client';
import { callWorkflowId } from '../domain/call';
import type { toolCall } from '../workflows/call/tool-call';
import { cancelCallUpdate, catchUpSignal } from '../workflows/messages';
import { turnWorkflowId } from '../domain/turn';
import { turnOptions } from '../workflows/turn-options';
import type { turn } from '../workflows/turn/turn';
import { callOptions } from '../workflows/call-options';
import type { CallWorkflows } from './reconcile-tenant';
import type { TurnWorkflows } from './reconcile-turns';

/** The reconciler's view of the tool-call workflows, over a Temporal client. */
export function createCallWorkflows(client: WorkflowClient, taskQueue: string): CallWorkflows {
  const handleOf = (tenant: string, callId: string) =>
    client.getHandle<typeof toolCall>(callWorkflowId(tenant, callId));
  return {
    stateOf: (tenant, callId) => stateOf(client.getHandle(callWorkflowId(tenant, callId))),
    async start(start) {
      try {
        await client.start<typeof toolCall>('toolCall', callOptions(start, taskQueue));
      } catch (error) {
        // It was started, and has ended already.
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },
    async catchUp(tenant, callId) {
      await handleOf(tenant, callId).signal(catchUpSignal).catch(ignoreEnded);
    },
    async giveUp(tenant, callId, input) {
      await handleOf(tenant, callId)
        .executeUpdate(cancelCallUpdate, { args: [input] })
        .catch(ignoreEnded);
    },
    listBroken: (tenant, closedAfter) =>
      callIds(
        client,
        tenant,
        `ExecutionStatus IN ('Terminated', 'Failed', 'TimedOut') AND CloseTime > '${closedAfter.toISOString()}'`,
      ),
    listRunning: (tenant, startedBefore) =>
      callIds(client, tenant, `ExecutionStatus = 'Running' AND StartTime < '${startedBefore.toISOString()}'`),
  };
}

/** The same for turns. */
export function createTurnWorkflows(client: WorkflowClient, taskQueue: string): TurnWorkflows {
  return {
    stateOf: (tenant, turnId) => stateOf(client.getHandle(turnWorkflowId(tenant, turnId))),
    async start(start) {
      try {
        await client.start<typeof turn>('turn', turnOptions(start, taskQueue));
      } catch (error) {
        // It was started, and has ended already.
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },
  };
}

async function stateOf(handle: WorkflowHandle): Promise<'running' | 'ended' | 'unknown'> {
  try {
    const { status } = await handle.describe();
    return status.name === 'RUNNING' || status.name === 'PAUSED' ? 'running' : 'ended';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'unknown';
    throw error;
  }
}

async function* callIds(client: WorkflowClient, tenant: string, condition: string): AsyncGenerator<string> {
  // Tenant ids hold no quote.
  const query = `WorkflowType IN ('toolCall', 'textGate') AND PortcullisTenant = '${tenant}' AND ${condition}`;
  for await (const { workflowId } of client.list({ query })) {
    const callId = workflowId.split(':')[2];
    if (callId !== undefined && workflowId === callWorkflowId(tenant, callId)) yield callId;
  }
}

function ignoreEnded(error: unknown): void {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}
