import {
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  isCancellation,
  log,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { CallStatus, ToolCallStart } from '../../domain/call';
import { deadlineOf, openWaitOf, pointOf } from '../../domain/call-state';
import {
  answerPendingUpdate,
  callStateQuery,
  cancelCallUpdate,
  catchUpSignal,
  claimDecisionUpdate,
  decideUpdate,
  reportResultUpdate,
  resolveWaitSignal,
  resolveWaitUpdate,
} from '../messages';
import { attributesAtEnd } from '../search-attributes';
import { stoppable } from '../stoppable';
import { until } from '../until';
import { describeCall } from './details';
import { HookAsking } from './hook-asking';
import { readOperatorSignal } from './operator-signal';
import { storeAccess } from './store-access';
import { CallRun } from './call-run';

/**
 * One tool call, from the request until its output is kept or it is given up. Wires Temporal's messages, clock and
 * cancellation to a {@link CallRun}, which holds the rules.
 *
 * The call is decided from the arguments alone: the update `decide` only waits for the outcome, so a call whose update
 * was lost in a crash is decided all the same.
 */
export async function toolCall(start: ToolCallStart): Promise<{ status: CallStatus }> {
  let notice: string | undefined;
  const describe = (): void => {
    setCurrentDetails(describeCall(start, run.state, notice));
  };
  const run = new CallRun(start, {
    store: storeAccess,
    hooks: new HookAsking(),
    now: Date.now,
    onChange: describe,
    stoppable,
  });
  /**
   * Handlers wait until something is stored of the call, and are not cancelled with the workflow: a step that was begun
   * is stored, and a signal's handler that is cancelled would end the workflow before its wait is closed.
   */
  const onceKnown = <Reply>(handle: () => Reply | Promise<Reply>): Promise<Reply> =>
    CancellationScope.nonCancellable(async () => {
      await condition(() => run.known);
      return handle();
    });
  const onceSettled = <Reply>(reply: () => Reply): Promise<Reply> =>
    CancellationScope.nonCancellable(async () => {
      await condition(() => run.settled);
      return reply();
    });

  setHandler(decideUpdate, () => onceSettled(() => ({ status: run.state.call.status })));
  setHandler(resolveWaitUpdate, (input) => onceKnown(() => run.answer(input)));
  setHandler(reportResultUpdate, async (input) => {
    const reply = await onceKnown(() => run.report(input));
    // Hooks judge what the tool gave; the caller is told what they made of it.
    return reply.ok ? onceSettled(() => reply) : reply;
  });
  setHandler(cancelCallUpdate, (input) => onceKnown(() => run.cancel(input)));
  setHandler(answerPendingUpdate, (input) => onceKnown(() => run.answerPending(input)));
  setHandler(claimDecisionUpdate, (input) => onceKnown(() => run.claim(input)));
  setHandler(catchUpSignal, () => onceKnown(() => run.catchUp()));
  setHandler(resolveWaitSignal, (payload) =>
    onceKnown(async () => {
      const reading = await readOperatorSignal(start, payload, pointOf(run.state));
      const reply = reading.ok ? await run.answer(reading.input) : undefined;
      if (reply?.ok === true) notice = undefined;
      else
        notice = `The last resolveWait signal was refused: ${reading.ok ? refusalCode(reply) : reading.problem}`;
      describe();
    }),
  );
  setHandler(callStateQuery, () => {
    const open = openWaitOf(run.state);
    return {
      status: run.state.call.status,
      n: run.state.n,
      ...(open !== undefined && { waitId: open.wait.id }),
    };
  });

  describe();
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
      const deadline = deadlineOf(run.state) ?? Number.POSITIVE_INFINITY;
      await until(() => cancelRequested || !run.settled || deadlineOf(run.state) !== deadline, {
        ms: deadline - Date.now(),
        summary: run.state.call.status === 'waiting' ? 'Time-out of the wait' : 'Time-out of the output',
      });
      await run.tick();
    }
    upsertSearchAttributes(attributesAtEnd(run.state.call.status));
    await condition(allHandlersFinished);
  });
  if (cancelRequested) throw new CancelledFailure('the workflow was cancelled');
  return { status: run.state.call.status };
}

function refusalCode(reply: Awaited<ReturnType<CallRun['answer']>> | undefined): string {
  return reply === undefined || reply.ok ? 'not read' : reply.refusal.code;
}
