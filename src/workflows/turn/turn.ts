import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  ChildWorkflowFailure,
  condition,
  continueAsNew,
  executeChild,
  isCancellation,
  log,
  ParentClosePolicy,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { TurnActivities } from '../../activities/turn-activities';
import type { CallStart, CallStatus } from '../../domain/call';
import type { CancelInput } from '../../domain/call-machine';
import { cancelledDenial } from '../../domain/call-chain';
import type { Reason } from '../../domain/denial';
import { SERVICE_OWNER, TEMPORAL_OPERATOR } from '../../domain/principal';
import { MODEL_FAILED, type TurnOutcome, type TurnStart, type TurnStatus } from '../../domain/turn';
import { callOptions, workflowTypeOf } from '../call-options';
import { cancelTurnUpdate } from '../messages';
import { attributesAtTurnEnd } from '../search-attributes';

/** A run with a longer history is continued as a new one, between two steps. In events. */
const LONGEST_HISTORY = 500;

const RETRY = { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '5 s' } as const;

const stored = proxyActivities<TurnActivities>({ startToCloseTimeout: '10 s', retry: RETRY });

/** Waits until the calls have ended. */
const calls = proxyActivities<TurnActivities>({ startToCloseTimeout: '30 s', retry: RETRY });

/**
 * One turn. Its texts and its tool calls are workflows of their own, so they wait, survive and are audited as those that
 * callers make; this one only says what comes next.
 *
 *   U1  One call of the model is one activity, retried by Temporal; what the model said first in a step stands.
 *   U2  The calls of a step run side by side, and the next step begins when all of them have ended.
 *   U3  Nobody gets a text of the model before its hooks have let it through.
 *   U4  A turn that is given up stops the model and every call, and ends when they have ended.
 */
export async function turn(start: TurnStart): Promise<{ status: TurnStatus }> {
  const run = new TurnRun(start);
  setHandler(cancelTurnUpdate, (input) => run.giveUp(input));
  CancellationScope.current().cancelRequested.catch((error: unknown) => {
    if (isCancellation(error))
      run.cancelBy({
        by: workflowInfo().parent === undefined ? TEMPORAL_OPERATOR.owner : SERVICE_OWNER,
        code: 'workflow_cancelled',
      });
    else log.error('the root scope failed', { error });
  });
  // A turn that is given up still waits for its calls and stores its end.
  const status = await CancellationScope.nonCancellable(async () => {
    const outcome = await run.toItsEnd();
    const ended = await stored.finishTurn({ tenant: start.tenant, turnId: start.turnId, outcome });
    run.ended = ended;
    upsertSearchAttributes(attributesAtTurnEnd(ended));
    await condition(allHandlersFinished);
    return ended;
  });
  if (run.cancelled?.code === 'workflow_cancelled') throw new CancelledFailure('the workflow was cancelled');
  return { status };
}

class TurnRun {
  ended: TurnStatus | undefined;
  cancelled: CancelInput | undefined;
  private readonly open = new Set<string>();
  private readonly modelScope = new CancellationScope({ cancellable: true });

  constructor(private readonly start: TurnStart) {}

  /** Answers when the turn has ended, with the status that it then has. */
  async giveUp(input: CancelInput): Promise<{ status: TurnStatus }> {
    this.cancelBy(input);
    await CancellationScope.nonCancellable(() => condition(() => this.ended !== undefined));
    return { status: this.ended ?? 'cancelled' };
  }

  cancelBy(input: CancelInput): void {
    if (this.cancelled !== undefined || this.ended !== undefined) return;
    this.cancelled = input;
    this.modelScope.cancel();
    const { tenant } = this.start;
    void calls
      .giveUpCalls({ tenant, callIds: [...this.open], input })
      .catch((error: unknown) => log.error('calls could not be given up', { error }));
  }

  async toItsEnd(): Promise<TurnOutcome> {
    const { input, maxSteps, done } = this.start;
    if (done === undefined) {
      const judged = await this.judge(input, 'Judge the input');
      if (judged !== undefined) return judged;
    }
    for (let step = done ?? 0; step < maxSteps; step += 1) {
      if (this.cancelled !== undefined) return this.givenUp(this.cancelled);
      const { continueAsNewSuggested, historyLength } = workflowInfo();
      if (continueAsNewSuggested || historyLength > LONGEST_HISTORY) {
        await condition(allHandlersFinished);
        if (this.cancelled === undefined) await continueAsNew<typeof turn>({ ...this.start, done: step });
      }
      const next = await this.askModel(step);
      if ('status' in next) return next;
      if (next.kind === 'ended') return { status: 'failed', failure: GONE };
      if (next.kind === 'answer') {
        return (await this.judge(next.output, 'Judge the answer')) ?? { status: 'completed' };
      }
      this.describe(`Step ${step + 1}: ${next.calls.map(({ tool }) => `\`${tool}\``).join(', ')}`);
      await Promise.all(next.calls.map((call) => this.child(call, `Call ${call.tool}`)));
    }
    return this.cancelled === undefined
      ? {
          status: 'failed',
          failure: { code: 'max_steps', text: `the model made no end in ${maxSteps} steps` },
        }
      : this.givenUp(this.cancelled);
  }

  /** Nothing: the text is let through. */
  private async judge(text: TurnStart['input'], what: string): Promise<TurnOutcome | undefined> {
    this.describe(what);
    const status = await this.child(text, what);
    if (status === 'completed') return undefined;
    const { tenant } = this.start;
    const denial = await stored.readTextDenial({ tenant, callId: text.callId });
    if (status === 'cancelled' || denial === null)
      return this.givenUp(this.cancelled ?? { by: 'temporal-operator', code: 'workflow_ended' });
    return { status: 'denied', denial };
  }

  private async askModel(step: number) {
    const { tenant, turnId, modelTimeoutMs } = this.start;
    this.describe(`Step ${step + 1}: asking the model`);
    const { askModel } = proxyActivities<TurnActivities>({
      startToCloseTimeout: modelTimeoutMs + 30_000,
      heartbeatTimeout: '10 s',
      retry: {
        initialInterval: '1 s',
        backoffCoefficient: 2,
        maximumInterval: '30 s',
        maximumAttempts: 4,
      },
      summary: `Step ${step + 1}: ask the model`,
    });
    try {
      return await this.modelScope.run(() => askModel({ tenant, turnId, number: step }));
    } catch (error) {
      if (isCancellation(error) && this.cancelled !== undefined) return this.givenUp(this.cancelled);
      if (!(error instanceof ActivityFailure)) throw error;
      return { status: 'failed' as const, failure: failureOf(error) };
    }
  }

  /** A call as a workflow of its own; it ends however the turn's run ends. Gives its status. */
  private async child(start: CallStart, summary: string): Promise<CallStatus> {
    const { workflowIdConflictPolicy: _, ...options } = callOptions(start, workflowInfo().taskQueue);
    const { callId } = start;
    this.open.add(callId);
    try {
      const { status } = await executeChild<(start: CallStart) => Promise<{ status: CallStatus }>>(
        workflowTypeOf(start),
        {
          ...options,
          args: [start],
          parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
          staticDetails: summary,
        },
      );
      return status;
    } catch (error) {
      // Ended from outside; the reconciler sees to what the store has of it.
      if (!(error instanceof ChildWorkflowFailure)) throw error;
      return 'cancelled';
    } finally {
      this.open.delete(callId);
    }
  }

  private givenUp(input: CancelInput): TurnOutcome {
    return { status: 'cancelled', denial: cancelledDenial(input, 'unknown') };
  }

  private describe(stage: string): void {
    const { owner, profile } = this.start;
    setCurrentDetails(
      [
        `### ${stage}`,
        '',
        `Asked for by: \`${owner.replaceAll('`', "'")}\``,
        `Profile: \`${profile.id}\`, version ${profile.version}`,
      ].join('  \n'),
    );
  }
}

const GONE: Reason = { code: 'turn_gone', text: 'the store does not know the turn any more' };

function failureOf({ cause }: ActivityFailure): Reason {
  if (cause instanceof ApplicationFailure && cause.type === MODEL_FAILED) {
    const [reason] = cause.details as [Reason];
    return reason;
  }
  return { code: 'model_failed', text: 'the model could not be asked' };
}
