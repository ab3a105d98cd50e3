import {
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  isCancellation,
  log,
  setCurrentDetails,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { CallStart, CallStatus } from '../../domain/call';
import { deadlineOf, openWaitOf, pointOf } from '../../domain/call-state';
import type { JsonValue } from '../../domain/json-value';
import { attributesAtEnd } from '../search-attributes';
import { stoppable } from '../stoppable';
import { until } from '../until';
import { CallRun } from './call-run';
import { describeCall } from './details';
import { HookAsking } from './hook-asking';
import { readOperatorSignal } from './operator-signal';
import { review } from './review';
import { storeAccess } from './store-access';
import { runTool } from './tool-running';

/**
 * Temporal's clock, cancellation and messages around a {@link CallRun}, which holds the rules. A workflow registers its
 * handlers with the methods of this class, all of them before its first await, and then runs it to the end.
 *
 * A call is decided from the workflow's arguments alone: the update `decide` only waits for the outcome, so a call whose
 * update was lost in a crash is decided all the same.
 */
export class GatedCall {
  readonly run: CallRun;
  private notice: string | undefined;

  constructor(private readonly start: CallStart) {
    this.run = new CallRun(start, {
      store: storeAccess,
      hooks: new HookAsking(),
      now: Date.now,
      onChange: () => this.describe(),
      stoppable,
      review,
      runTool,
    });
  }

  /**
   * Handlers wait until something is stored of the call, and are not cancelled with the workflow: a step that was begun
   * is stored, and a signal's handler that is cancelled would end the workflow before its wait is closed.
   */
  onceKnown<Reply>(handle: () => Reply | Promise<Reply>): Promise<Reply> {
    return CancellationScope.nonCancellable(async () => {
      await condition(() => this.run.known);
      return handle();
    });
  }

  onceSettled<Reply>(reply: () => Reply): Promise<Reply> {
    return CancellationScope.nonCancellable(async () => {
      await condition(() => this.run.settled);
      return reply();
    });
  }

  firstOutcome(): Promise<{ status: CallStatus }> {
    return this.onceSettled(() => ({ status: this.run.state.call.status }));
  }

  /** The signal by which people in Temporal's UI and command line answer a wait. */
  takeOperatorSignal(payload: JsonValue): Promise<void> {
    return this.onceKnown(async () => {
      const reading = await readOperatorSignal(this.start, payload, pointOf(this.run.state));
      const reply = reading.ok ? await this.run.answer(reading.input) : undefined;
      if (reply?.ok === true) this.notice = undefined;
      else {
        const why = reading.ok ? refusalCode(reply) : reading.problem;
        this.notice = `The last resolveWait signal was refused: ${why}`;
      }
      this.describe();
    });
  }

  /** What the query `callState` answers. */
  standing(): { status: CallStatus; n: number; waitId?: string } {
    const { state } = this.run;
    const open = openWaitOf(state);
    return {
      status: state.call.status,
      n: state.n,
      ...(open !== undefined && { waitId: open.wait.id }),
    };
  }

  /** From the first step until the call has ended and everybody has their answer. */
  async toItsEnd(): Promise<{ status: CallStatus }> {
    const { run } = this;
    this.describe();
    let cancelRequested = false;
    CancellationScope.current().cancelRequested.catch((error: unknown) => {
      if (isCancellation(error)) cancelRequested = true;
      else log.error('the root scope failed', { error });
    });

    // A cancelled call still closes its wait and writes its audit.
    await CancellationScope.nonCancellable(async () => {
      await run.open();
      while (!run.ended) {
        if (cancelRequested) {
          await run.cancel({ by: 'temporal-operator', code: 'workflow_cancelled' });
          continue;
        }
        if (!run.settled) {
          await Promise.race([run.askDueHook(), condition(() => cancelRequested || run.settled)]);
          continue;
        }
        if (run.runDue) {
          await Promise.race([run.runTool(), condition(() => cancelRequested || !run.runDue)]);
          continue;
        }
        const deadline = deadlineOf(run.state) ?? Number.POSITIVE_INFINITY;
        await until(
          () => cancelRequested || !run.settled || run.runDue || deadlineOf(run.state) !== deadline,
          {
            ms: deadline - Date.now(),
            summary: run.state.call.status === 'waiting' ? 'Time-out of the wait' : 'Time-out of the output',
          },
        );
        await run.tick();
      }
      upsertSearchAttributes(attributesAtEnd(run.state.call.status));
      await condition(allHandlersFinished);
    });
    if (cancelRequested) throw new CancelledFailure('the workflow was cancelled');
    return { status: run.state.call.status };
  }

  private describe(): void {
    setCurrentDetails(describeCall(this.start, this.run.state, this.notice));
  }
}

function refusalCode(reply: Awaited<ReturnType<CallRun['answer']>> | undefined): string {
  return reply === undefined || reply.ok ? 'not read' : reply.refusal.code;
}
