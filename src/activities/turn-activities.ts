import { activityInfo, ApplicationFailure, cancellationSignal, heartbeat } from '@temporalio/activity';
import type { CancelInput } from '../domain/call-machine';
import type { Denial } from '../domain/denial';
import { endTurn, MODEL_FAILED, type TurnOutcome, type TurnStatus } from '../domain/turn';
import type { ModelCaller } from '../model/model-caller';
import type { TenantStores } from '../store/tenant-stores';
import type { Toolbox } from '../tools/toolbox';
import type { CallWorkflows } from './reconcile-tenant';
import { nextStep, type NextStep } from './turns/next-step';

export type { NextStep };

export interface TurnActivities {
  /**
   * Asks the model for the next step, and makes the starts of what it asks for. Fails as `ModelFailed`, retryably or
   * not, with a reason as detail. Texts of the model are in no result: they travel as names of blobs.
   */
  askModel(step: { tenant: string; turnId: string; number: number }): Promise<NextStep>;
  /** How a text of a turn was judged: nothing when it was let through. */
  readTextDenial(text: { tenant: string; callId: string }): Promise<Denial | null>;
  /** Cancels calls of a turn that was given up; their workflows close their waits. */
  giveUpCalls(calls: { tenant: string; callIds: readonly string[]; input: CancelInput }): Promise<void>;
  /** Ends the turn in the store; gives the status that it has, which another run may have stored before. */
  finishTurn(turn: { tenant: string; turnId: string; outcome: TurnOutcome }): Promise<TurnStatus>;
}

const BEAT_MS = 2_000;

export function createTurnActivities({
  stores,
  model,
  workflows,
  toolbox,
}: {
  stores: TenantStores;
  model: ModelCaller;
  workflows: Pick<CallWorkflows, 'giveUp'>;
  toolbox: Pick<Toolbox, 'list'>;
}): TurnActivities {
  return {
    async askModel({ tenant, turnId, number }) {
      const store = stores.of(tenant);
      const turn = await store.turns.read(turnId);
      if (turn?.record.status !== 'running') return { kind: 'ended' };
      const beat = setInterval(() => heartbeat(), BEAT_MS);
      try {
        const next = await nextStep({ store, model, toolbox, turn, number, signal: cancellationSignal() });
        if (next.kind !== 'failed') return next;
        const { code, text, retry, retryAfterSeconds } = next;
        throw ApplicationFailure.create({
          type: MODEL_FAILED,
          message: text,
          nonRetryable: !retry,
          details: [{ code, text }],
          ...(retryAfterSeconds !== undefined && { nextRetryDelay: Math.min(retryAfterSeconds, 60) * 1_000 }),
        });
      } finally {
        clearInterval(beat);
      }
    },

    async readTextDenial({ tenant, callId }) {
      const snapshot = await stores.of(tenant).calls.read(callId);
      return snapshot?.state.call.denial ?? null;
    },

    async giveUpCalls({ tenant, callIds, input }) {
      await Promise.all(callIds.map((callId) => workflows.giveUp(tenant, callId, input)));
    },

    async finishTurn({ tenant, turnId, outcome }) {
      const store = stores.of(tenant);
      const turn = await store.turns.read(turnId);
      if (turn === undefined) return outcome.status;
      const { scheduledTimestampMs } = activityInfo();
      const at = new Date(scheduledTimestampMs).toISOString();
      return (await store.turns.finish(endTurn(turn.record, outcome, at))).status;
    },
  };
}
