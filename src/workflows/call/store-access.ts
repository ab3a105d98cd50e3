import {
  isCancellation,
  log,
  proxyActivities,
  proxyLocalActivities,
  TemporalFailure,
} from '@temporalio/workflow';
import type { CallStoreActivities } from '../../activities/call-store';

const SUMMARY = { commitStep: 'Store the next step', readState: 'Compare with the store' } as const;

/**
 * While a local activity runs the workflow is deaf, so all of its attempts together have this long. Then an ordinary
 * activity, during which the workflow listens, goes on without limit.
 */
const local = proxyLocalActivities<CallStoreActivities>({
  scheduleToCloseTimeout: '1500 ms',
  retry: { initialInterval: '50 ms', maximumAttempts: 3 },
});

const ordinary = proxyActivities<CallStoreActivities>({
  startToCloseTimeout: '10 s',
  retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '5 s' },
});

/**
 * The store as a call's workflow sees it: fast as long as the store answers, and never giving up, because a step that
 * cannot be audited must not happen.
 */
export const storeAccess: CallStoreActivities = {
  commitStep: (step) => localFirst('commitStep', (from) => from.commitStep(step)),
  readState: (call) => localFirst('readState', (from) => from.readState(call)),
};

async function localFirst<Result>(
  name: keyof typeof SUMMARY,
  run: (activities: CallStoreActivities) => Promise<Result>,
): Promise<Result> {
  try {
    return await run(summarised(local, name));
  } catch (error) {
    // A local activity fails with what failed it, not with an ActivityFailure around it.
    if (!(error instanceof TemporalFailure) || isCancellation(error)) throw error;
    log.warn('the store does not answer; going on until it does', { activity: name });
    return run(summarised(ordinary, name));
  }
}

function summarised(
  activities: typeof local | typeof ordinary,
  name: keyof typeof SUMMARY,
): CallStoreActivities {
  const summary = SUMMARY[name];
  return {
    commitStep: (step) => activities.commitStep.executeWithOptions({ summary }, [step]),
    readState: (call) => activities.readState.executeWithOptions({ summary }, [call]),
  };
}
