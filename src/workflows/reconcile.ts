import { proxyActivities } from '@temporalio/workflow';
import type { ReconcileActivities } from '../activities/reconcile';
import type { Reconciled } from '../activities/reconcile-tenant';

const { reconcile: reconcileActivity } = proxyActivities<ReconcileActivities>({
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '30 s',
  retry: { maximumAttempts: 3 },
  summary: 'Compare open calls with running workflows',
});

/** One pass over a tenant; a schedule starts it every minute. */
export async function reconcile(tenant: string): Promise<Reconciled> {
  return reconcileActivity(tenant);
}
