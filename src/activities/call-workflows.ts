import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type WorkflowClient,
} from '@temporalio/client';
import { SERVICE_OWNER } from '../domain/principal';
import { callWorkflowId } from '../domain/call';
import type { toolCall } from '../workflows/call/tool-call';
import { cancelCallUpdate, catchUpSignal } from '../workflows/messages';
import { callOptions } from '../workflows/call-options';
import type { CallWorkflows } from './reconcile-tenant';

/** The reconciler's view of the tool-call workflows, over a Temporal client. */
export function createCallWorkflows(client: WorkflowClient, taskQueue: string): CallWorkflows {
  const handleOf = (tenant: string, callId: string) =>
    client.getHandle<typeof toolCall>(callWorkflowId(tenant, callId));
  return {
    async stateOf(tenant, callId) {
      try {
        const { status } = await handleOf(tenant, callId).describe();
        return status.name === 'RUNNING' || status.name === 'PAUSED' ? 'running' : 'ended';
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return 'unknown';
        throw error;
      }
    },
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
    async cancel(tenant, callId) {
      await handleOf(tenant, callId)
        .executeUpdate(cancelCallUpdate, { args: [{ by: SERVICE_OWNER, code: 'thread_closed' }] })
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
