import {
  CancellationScope,
  ChildWorkflowFailure,
  executeChild,
  ParentClosePolicy,
  proxyActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { HookActivities, PatientReply, ReviewFailure } from '../../activities/hook-activities';
import type { PlacedAgentHook } from '../../domain/hook';
import type { TurnStart } from '../../domain/turn';
import { turnOptions } from '../turn-options';
import type { turn } from '../turn/turn';

const activities = proxyActivities<HookActivities>({
  startToCloseTimeout: '10 s',
  retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '5 s' },
});

const TOO_LATE: ReviewFailure = {
  kind: 'failed',
  outcome: 'timeout',
  reason: { code: 'review_timeout', text: 'The review took longer than it may.' },
};

/**
 * Has an agent hook judge: by a turn on its profile, as a child of the call's workflow. A review that takes too long is
 * given up, as is one that nobody wants any more.
 */
export async function review(
  { tenant, callId }: { tenant: string; callId: string },
  { hook }: PlacedAgentHook,
): Promise<PatientReply> {
  const began = Date.now();
  const prepared = await activities.prepareReview({ tenant, callId });
  if (prepared.kind === 'nothing_due') return prepared;
  const { timeoutMs, asyncTimeoutMs } = hook.processor;
  const failure =
    prepared.kind === 'failed'
      ? prepared
      : await run(prepared.start, { ms: asyncTimeoutMs ?? timeoutMs, summary: `Review of hook ${hook.id}` });
  return activities.recordReview({
    tenant,
    callId,
    ...(prepared.kind === 'turn' && { turnId: prepared.start.turnId }),
    ...(failure !== undefined && { failure }),
    latencyMs: Date.now() - began,
    now: Date.now(),
  });
}

/** Nothing: the review has ended, and the store knows how. */
async function run(
  start: TurnStart,
  { ms, summary }: { ms: number; summary: string },
): Promise<ReviewFailure | undefined> {
  const { workflowIdConflictPolicy: _, ...options } = turnOptions(start, workflowInfo().taskQueue);
  const judging = new CancellationScope({ cancellable: true });
  const clock = new CancellationScope({ cancellable: true });
  let late = false;
  const timer = clock.run(() => sleep(ms, { summary: `Time-out: ${summary}` }));
  timer.then(
    () => {
      late = true;
      judging.cancel();
    },
    () => undefined,
  );
  try {
    await judging.run(() =>
      executeChild<typeof turn>('turn', {
        ...options,
        parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
        staticDetails: summary,
      }),
    );
    return undefined;
  } catch (error) {
    if (late) return TOO_LATE;
    // Cancelled with the call, which does not want it any more; or ended from outside, which the store will tell.
    if (judging.consideredCancelled || !(error instanceof ChildWorkflowFailure)) throw error;
    return undefined;
  } finally {
    clock.cancel();
  }
}
