import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { PatientReply } from '../../activities/hook-activities';
import type { ToolActivities } from '../../activities/tool-activities';
import type { ToolCallStart } from '../../domain/call';

/** Room for the store, and for a session with the tool's server. */
const SLACK_MS = 60_000;

/**
 * Has the tool of a call run. Temporal may hand the activity to several workers, one after the other; which of them runs
 * the tool is decided in the store (domain/call-execution.ts), so attempts need no limit.
 */
export function runTool({ tenant, callId, tool, profile }: ToolCallStart): Promise<PatientReply> {
  const activities = proxyActivities<ToolActivities>({
    startToCloseTimeout: (profile.runs?.timeoutMs ?? 0) + SLACK_MS,
    heartbeatTimeout: '10 s',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '5 s' },
  });
  return activities.runTool.executeWithOptions({ summary: `Run ${tool}`.slice(0, 200).toWellFormed() }, [
    { tenant, callId, now: Date.now() },
  ]);
}
