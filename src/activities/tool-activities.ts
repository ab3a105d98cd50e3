import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import type { TenantStores } from '../store/tenant-stores';
import type { Toolbox } from '../tools/toolbox';
import type { PatientReply } from './hook-activities';
import { runTool } from './tools/run-tool';

export interface ToolActivities {
  /**
   * Runs the tool of a call that the service is to run, at most once unless it is declared idempotent, and stores what
   * came of it. Input and result are in the store only.
   * @param now the workflow's clock, in milliseconds since the epoch
   */
  runTool(call: { tenant: string; callId: string; now: number }): Promise<PatientReply>;
}

const BEAT_MS = 2_000;

export function createToolActivities({
  stores,
  toolbox,
}: {
  stores: TenantStores;
  toolbox: Pick<Toolbox, 'run'>;
}): ToolActivities {
  return {
    async runTool({ tenant, callId, now }) {
      const store = stores.of(tenant);
      const snapshot = await store.calls.readToolCall(callId);
      if (snapshot === undefined) return { kind: 'nothing_due' };
      const began = performance.now();
      const {
        workflowExecution,
        activityId,
        attempt,
        scheduledTimestampMs,
        currentAttemptScheduledTimestampMs,
      } = activityInfo();
      const waited = Math.max(0, currentAttemptScheduledTimestampMs - scheduledTimestampMs);
      const beat = setInterval(() => heartbeat(), BEAT_MS);
      try {
        return await runTool({
          store,
          start: snapshot.start,
          run: (request) => toolbox.run(request),
          token: `${workflowExecution?.runId ?? ''}:${activityId}:${attempt}`,
          clock: () => Math.round(now + waited + performance.now() - began),
          signal: cancellationSignal(),
        });
      } finally {
        clearInterval(beat);
      }
    },
  };
}
