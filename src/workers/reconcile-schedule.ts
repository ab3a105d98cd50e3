import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client } from '@temporalio/client';
import type { reconcile } from '../workflows/reconcile';

/** Makes sure that each tenant is reconciled once a minute, by one worker of however many. */
export async function ensureReconcileSchedule(
  client: Client,
  { tenant, taskQueue }: { tenant: string; taskQueue: string },
): Promise<void> {
  const scheduleId = reconcileScheduleId(tenant);
  const spec = { intervals: [{ every: '1 minute' }] };
  const action = {
    type: 'startWorkflow' as const,
    workflowType: 'reconcile' satisfies (typeof reconcile)['name'],
    workflowId: scheduleId,
    args: [tenant],
    taskQueue,
    workflowExecutionTimeout: '10 minutes',
  };
  try {
    await client.schedule.create({
      scheduleId,
      spec,
      action,
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
      memo: { purpose: 'Brings stored calls and running workflows back together' },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await client.schedule
      .getHandle(scheduleId)
      .update(({ state, policies }) => ({ spec, action, state, policies }));
  }
}

export function reconcileScheduleId(tenant: string): string {
  return `portcullis-reconcile:${tenant}`;
}
