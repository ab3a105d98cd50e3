import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import type { JsonValue } from '../domain/json-value';
import type { CallStart } from '../domain/call';
import { dueHook, type CallState } from '../domain/call-state';
import { mayTryAtOnce } from '../domain/hook-attempts';
import type { Transition } from '../domain/transition';
import type { TenantStores } from '../store/tenant-stores';
import { evaluateHook } from './hooks/evaluate-hook';
import type { EvaluationResult } from './hooks/recording';
import { prepareReview, recordReview, type PreparedReview, type ReviewFailure } from './hooks/review';
import { keepEdit, type KeptEdit } from './hooks/keep-edit';
import type { Delivering } from './hooks/send-delivery';

export interface AskAtOnce {
  readonly start: CallStart;
  /** The step whose state the hook is due in; it is stored with the hook's answer unless it is stored already. */
  readonly from: { readonly state: CallState } | { readonly made: Transition };
  /** The workflow's clock, in milliseconds since the epoch. */
  readonly now: number;
  readonly onlyIfThreadOpen: boolean;
  /** For all that is asked; each hook gets one attempt, cut off when this is used up. In milliseconds. */
  readonly patienceMs: number;
  /** Less than this is not worth a delivery. In milliseconds. */
  readonly shortestTryMs: number;
}

export interface AskPatiently {
  readonly tenant: string;
  readonly callId: string;
  readonly now: number;
  readonly attemptsMade: number;
}

/**
 * Where the call stands after the hooks that were asked. `elapsedMs` bounds how long the workflow is deaf to messages;
 * `attemptsMade` counts attempts at the hook that is due now.
 */
export type AskReply = (
  | Exclude<EvaluationResult, { kind: 'undecided' }>
  /** The first of the hooks could not be asked at once; nothing is stored. */
  | { readonly kind: 'undecided' }
) & { readonly elapsedMs: number; readonly attemptsMade: number };

export type PatientReply =
  | Extract<EvaluationResult, { kind: 'applied' | 'taken' }>
  /** The store does not know the call, or no hook of it is due. */
  | { readonly kind: 'nothing_due' };

export interface RecordReview {
  readonly tenant: string;
  readonly callId: string;
  /** The review, when it came about. */
  readonly turnId?: string;
  /** Why there is no verdict to read. */
  readonly failure?: ReviewFailure;
  readonly latencyMs: number;
  /** The workflow's clock, in milliseconds since the epoch. */
  readonly now: number;
}

export interface HookActivities {
  /**
   * For a local activity: asks the due hook once, briefly, and those that are due after it as long as the time lasts.
   * Each is a step of its own. The input is not kept in any history.
   */
  askHookAtOnce(ask: AskAtOnce): Promise<AskReply>;
  /** For an ordinary activity: asks the due hook of a stored call with all its attempts. */
  askHookPatiently(ask: AskPatiently): Promise<PatientReply>;
  /** Makes the turn in which the due agent hook judges. */
  prepareReview(review: { tenant: string; callId: string }): Promise<PreparedReview>;
  /** Records what the review came to as the hook's answer. */
  recordReview(review: RecordReview): Promise<PatientReply>;
  /** Keeps a value that a person sent by signal, and says what is wrong with one that cannot be used. */
  keepEdit(edit: { tenant: string; callId: string; value: JsonValue }): Promise<KeptEdit>;
}

export type { KeptEdit, PreparedReview, ReviewFailure };

export interface HookDependencies extends Delivering {
  readonly stores: TenantStores;
  /** Where receivers reach Nexus, such as `https://portcullis.example.com`; without it no late answers are taken. */
  readonly publicUrl?: string;
}

export function createHookActivities({ stores, publicUrl, ...delivering }: HookDependencies): HookActivities {
  const callback = publicUrl === undefined ? {} : { callbackBase: publicUrl };
  return {
    async askHookAtOnce({ start, from, now, onlyIfThreadOpen, patienceMs, shortestTryMs }) {
      const began = performance.now();
      const elapsed = (): number => Math.round(performance.now() - began);
      const store = stores.of(start.tenant);
      const ask = (next: AskAtOnce['from'], left: number): Promise<EvaluationResult> =>
        evaluateHook(delivering, {
          ...{ store, start, from: next, now: now + elapsed(), onlyIfThreadOpen, ...callback },
          asking: {
            attemptsMade: 0,
            patienceMs: left,
            onAttempt: () => undefined,
            signal: cancellationSignal(),
          },
        });
      let result = await ask(from, patienceMs);
      if (result.kind === 'undecided') {
        return { kind: 'undecided', attemptsMade: result.attempts, elapsedMs: elapsed() };
      }
      while (result.kind === 'applied') {
        const left = patienceMs - elapsed();
        const placed = dueHook(start, result.state);
        if (placed === undefined || !mayTryAtOnce(placed) || left < shortestTryMs) break;
        const next: EvaluationResult = await ask({ state: result.state }, left);
        if (next.kind === 'undecided') {
          return { ...result, attemptsMade: next.attempts, elapsedMs: elapsed() };
        }
        result = next;
      }
      return { ...result, attemptsMade: 0, elapsedMs: elapsed() };
    },

    async askHookPatiently({ tenant, callId, now, attemptsMade }) {
      const store = stores.of(tenant);
      const snapshot = await store.calls.read(callId);
      if (snapshot === undefined || dueHook(snapshot.start, snapshot.state) === undefined) {
        return { kind: 'nothing_due' };
      }
      const beat = keepBeating();
      try {
        const result = await evaluateHook(delivering, {
          store,
          start: snapshot.start,
          from: { state: snapshot.state },
          now: now + waitedForThisAttempt(),
          onlyIfThreadOpen: false,
          ...callback,
          asking: {
            attemptsMade: Math.max(attemptsMade, beat.before),
            onAttempt: beat.note,
            signal: cancellationSignal(),
          },
        });
        if (result.kind === 'applied' || result.kind === 'taken') return result;
        throw new Error(`a hook that is asked patiently cannot end as ${result.kind}`);
      } finally {
        beat.stop();
      }
    },

    prepareReview: ({ tenant, callId }) => prepareReview(stores.of(tenant), callId),
    recordReview: ({ tenant, callId, ...review }) => recordReview(stores.of(tenant), callId, review),
    keepEdit: ({ tenant, callId, value }) => keepEdit(stores.of(tenant), callId, value),
  };
}

/** Milliseconds of Temporal's clock between the activity's first attempt and this one. */
function waitedForThisAttempt(): number {
  const { scheduledTimestampMs, currentAttemptScheduledTimestampMs } = activityInfo();
  return Math.max(0, currentAttemptScheduledTimestampMs - scheduledTimestampMs);
}

const BEAT_MS = 2_000;

/** Tells Temporal that the worker lives, and the next worker how often the hook was asked by this one. */
function keepBeating() {
  const details: unknown = activityInfo().heartbeatDetails;
  const before = typeof details === 'number' ? details : 0;
  let attempts = before;
  const timer = setInterval(() => heartbeat(attempts), BEAT_MS);
  return {
    before,
    note: (made: number): void => {
      attempts = made;
      heartbeat(made);
    },
    stop: () => clearInterval(timer),
  };
}
