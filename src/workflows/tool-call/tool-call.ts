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
import type { CallStatus, ToolCallStart } from '../../domain/tool-call';
import { deadlineOf, openWaitOf } from '../../domain/tool-call-state';
import {
  callStateQuery,
  cancelCallUpdate,
  catchUpSignal,
  decideUpdate,
  reportResultUpdate,
  resolveWaitSignal,
  resolveWaitUpdate,
} from '../messages';
import { attributesAtEnd } from '../search-attributes';
import { until } from '../until';
import { describeCall } from './details';
import { readOperatorSignal } from './operator-signal';
import { storeAccess } from './store-access';
import { ToolCallRun } from './tool-call-run';

/**
 * One tool call, from the request until its output is kept or it is given up. Wires Temporal's messages, clock and
 * cancellation to a {@link ToolCallRun}, which holds the rules.
 *
 * The call is decided from the arguments alone: the update `decide` only waits for the outcome, so a call whose update
 * was lost in a crash is decided all the same.
 */
export async function toolCall(start: ToolCallStart): Promise<{ status: CallStatus }> {
  let notice: string | undefined;
  const describe = (): void => {
    setCurrentDetails(describeCall(start, run.state, notice));
  };
  const run = new ToolCallRun(start, { store: storeAccess, now: Date.now, onChange: describe });
  /**
   * Handlers wait for the first outcome, and are not cancelled with the workflow: a step that was begun is stored, and
   * a signal's handler that is cancelled would end the workflow before its wait is closed.
   */
  const onceDecided = <Reply>(handle: () => Reply | Promise<Reply>): Promise<Reply> =>
    CancellationScope.nonCancellable(async () => {
      await condition(() => run.decided);
      return handle();
    });

  setHandler(decideUpdate, () => onceDecided(() => ({ status: run.state.call.status })));
  setHandler(resolveWaitUpdate, (input) => onceDecided(() => run.answer(input)));
  setHandler(reportResultUpdate, (input) => onceDecided(() => run.report(input)));
  setHandler(cancelCallUpdate, (input) => onceDecided(() => run.cancel(input)));
  setHandler(catchUpSignal, () => onceDecided(() => run.catchUp()));
  setHandler(resolveWaitSignal, (payload) =>
    onceDecided(async () => {
      const reading = readOperatorSignal(start, payload);
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
      const deadline = deadlineOf(run.state) ?? Number.POSITIVE_INFINITY;
      await until(() => cancelRequested || deadlineOf(run.state) !== deadline, {
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

function refusalCode(reply: Awaited<ReturnType<ToolCallRun['answer']>> | undefined): string {
  return reply === undefined || reply.ok ? 'not read' : reply.refusal.code;
}
