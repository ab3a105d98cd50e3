import {
  ActivityCancellationType,
  isCancellation,
  log,
  proxyActivities,
  proxyLocalActivities,
  TemporalFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  AskAtOnce,
  AskReply,
  HookActivities,
  KeptEdit,
  PatientReply,
} from '../../activities/hook-activities';
import type { JsonValue } from '../../domain/json-value';
import type { PlacedAskedHook, PlacedUrlHook } from '../../domain/hook';
import { longestAsking, mayTryAtOnce } from '../../domain/hook-attempts';

/**
 * How a workflow asks a hook by HTTP. First by a local activity, which is the fastest way, and during which the
 * workflow is deaf: so it is cut off, and what all of them take within one workflow task is bounded. Then by an ordinary
 * activity, which reads the call from the store, retries, and can be cancelled. Both make the same delivery.
 */
const LOCAL_MS = 1_500;
const LOCAL_MS_PER_TASK = 2_000;
/** Shorter than this a try is not worth its delivery. */
const SHORTEST_TRY_MS = 250;
/** For looking into the store before, and writing to it after. */
const STORE_MS = 300;

export class HookAsking {
  /** The workflow task that local time is counted in, and how much of it is used up. */
  private task = -1;
  private spentMs = 0;

  /** Whether a brief try makes sense, and there is time for it in this workflow task. */
  mayTryAtOnce(placed: PlacedAskedHook): boolean {
    return mayTryAtOnce(placed) && this.patience() >= SHORTEST_TRY_MS;
  }

  /** Undefined: it did not work out, and one attempt may have been made. */
  async atOnce(
    ask: Omit<AskAtOnce, 'patienceMs' | 'shortestTryMs'>,
    hookId: string,
  ): Promise<AskReply | undefined> {
    const patienceMs = this.patience();
    const local = proxyLocalActivities<HookActivities>({
      scheduleToCloseTimeout: patienceMs + STORE_MS,
      retry: { maximumAttempts: 1 },
    });
    try {
      const reply = await local.askHookAtOnce.executeWithOptions({ summary: `Ask hook ${hookId}` }, [
        { ...ask, patienceMs, shortestTryMs: SHORTEST_TRY_MS },
      ]);
      this.spentMs += reply.elapsedMs;
      return reply;
    } catch (error) {
      if (!(error instanceof TemporalFailure) || isCancellation(error)) throw error;
      this.spentMs += patienceMs + STORE_MS;
      log.warn('a hook could not be asked at once; going on until it is', { hookId });
      return undefined;
    }
  }

  /** Until the hook has answered or failed for good; only a store that is away makes it begin again. */
  patiently(
    ask: { tenant: string; callId: string; now: number; attemptsMade: number },
    placed: PlacedUrlHook,
  ): Promise<PatientReply> {
    const ordinary = proxyActivities<HookActivities>({
      startToCloseTimeout: longestAsking(placed) + SLACK_MS,
      heartbeatTimeout: '10 s',
      cancellationType: ActivityCancellationType.TRY_CANCEL,
      retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '5 s' },
    });
    return ordinary.askHookPatiently.executeWithOptions({ summary: `Ask hook ${placed.hook.id}` }, [ask]);
  }

  private patience(): number {
    const { historyLength } = workflowInfo();
    if (historyLength !== this.task) {
      this.task = historyLength;
      this.spentMs = 0;
    }
    return Math.min(LOCAL_MS, LOCAL_MS_PER_TASK - this.spentMs) - STORE_MS;
  }
}

/** Room for the store. */
const SLACK_MS = 30_000;

const { keepEdit } = proxyActivities<HookActivities>({
  startToCloseTimeout: '10 s',
  retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '5 s' },
  summary: 'Keep an edit',
});

/** Keeps an edited input that came by signal. */
export function keepSignalledEdit(edit: {
  tenant: string;
  callId: string;
  value: JsonValue;
}): Promise<KeptEdit> {
  return keepEdit(edit);
}
