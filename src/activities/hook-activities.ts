import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import type { JsonValue } from '../domain/json-value';
import type { ToolCallStart } from '../domain/tool-call';
import { dueHook, type ToolCallState } from '../domain/tool-call-state';
import type { Transition } from '../domain/transition';
import type { TenantStores } from '../store/tenant-stores';
import { evaluateHook, type EvaluationResult } from './hooks/evaluate-hook';
import { keepEdit, type KeptEdit } from './hooks/keep-edit';
import type { Delivering } from './hooks/send-delivery';

export interface AskAtOnce {
  readonly start: ToolCallStart;
  /** The step whose state the hook is due in; it is stored with the hook's answer unless it is stored already. */
  readonly from: { readonly state: ToolCallState } | { readonly made: Transition };
  /** The workflow's clock, in milliseconds since the epoch. */
  readonly now: number;
  readonly onlyIfThreadOpen: boolean;
  /** One attempt, cut off after this many milliseconds. */
  readonly patienceMs: number;
}

export interface AskPatiently {
  readonly tenant: string;
  readonly callId: string;
  readonly now: number;
  readonly attemptsMade: number;
}

/** `elapsedMs` bounds how long the workflow is deaf to messages. */
export type AskReply = EvaluationResult & { readonly elapsedMs: number };

export type PatientReply =
  | Extract<EvaluationResult, { kind: 'applied' | 'taken' }>
  /** The store does not know the call, or no hook of it is due. */
  | { readonly kind: 'nothing_due' };

export interface HookActivities {
  /** For a local activity: asks the due hook once, briefly. Its input is not kept in any history. */
  askHookAtOnce(ask: AskAtOnce): Promise<AskReply>;
  /** For an ordinary activity: asks the due hook of a stored call with all its attempts. */
  askHookPatiently(ask: AskPatiently): Promise<PatientReply>;
  /** Keeps a value that a person sent by signal, and says what is wrong with one that cannot be used. */
  keepEdit(edit: { tenant: string; callId: string; value: JsonValue }): Promise<KeptEdit>;
}

export type { KeptEdit };

export interface HookDependencies extends Delivering {
  readonly stores: TenantStores;
  /** Where receivers reach Nexus, such as `https://portcullis.example.com`; without it no late answers are taken. */
  readonly publicUrl?: string;
}

export function createHookActivities({ stores, publicUrl, ...delivering }: HookDependencies): HookActivities {
  const callback = publicUrl === undefined ? {} : { callbackBase: publicUrl };
  return {
    async askHookAtOnce({ start, from, now, onlyIfThreadOpen, patienceMs }) {
      const began = performance.now();
      const result = await evaluateHook(delivering, {
        store: stores.of(start.tenant),
        start,
        from,
        now,
        onlyIfThreadOpen,
        ...callback,
        asking: { attemptsMade: 0, patienceMs, onAttempt: () => undefined, signal: cancellationSignal() },
      });
      return { ...result, elapsedMs: Math.round(performance.now() - began) };
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
