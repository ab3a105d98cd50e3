import { activityInfo, heartbeat } from '@temporalio/activity';
import { reconcileTenant, type Reconciled, type ReconcileDependencies } from './reconcile-tenant';

export interface ReconcileActivities {
  /** Brings one tenant's store and its workflows back together; safe to repeat and to run beside itself. */
  reconcile(tenant: string): Promise<Reconciled>;
}

export function createReconcileActivities(dependencies: ReconcileDependencies): ReconcileActivities {
  return {
    async reconcile(tenant) {
      const { heartbeatTimeoutMs } = activityInfo();
      return reconcileTenant(dependencies, {
        tenant,
        now: Date.now(),
        onProgress: heartbeatTimeoutMs === undefined ? () => undefined : heartbeat,
      });
    },
  };
}
