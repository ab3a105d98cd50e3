import { setHandler } from '@temporalio/workflow';
import type { CallStatus, ToolCallStart } from '../../domain/call';
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
import { GatedCall } from './gated-call';

/** One tool call, from the request until its output is kept or it is given up. */
export async function toolCall(start: ToolCallStart): Promise<{ status: CallStatus }> {
  const call = new GatedCall(start);
  const { run } = call;
  setHandler(decideUpdate, () => call.firstOutcome());
  setHandler(resolveWaitUpdate, (input) => call.onceKnown(() => run.answer(input)));
  setHandler(reportResultUpdate, async (input) => {
    const reply = await call.onceKnown(() => run.report(input));
    // Hooks judge what the tool gave; the caller is told what they made of it.
    return reply.ok ? call.onceSettled(() => reply) : reply;
  });
  setHandler(cancelCallUpdate, (input) => call.onceKnown(() => run.cancel(input)));
  setHandler(answerPendingUpdate, (input) => call.onceKnown(() => run.answerPending(input)));
  setHandler(claimDecisionUpdate, (input) => call.onceKnown(() => run.claim(input)));
  setHandler(catchUpSignal, () => call.onceKnown(() => run.catchUp()));
  setHandler(resolveWaitSignal, (payload) => call.takeOperatorSignal(payload));
  setHandler(callStateQuery, () => call.standing());
  return call.toItsEnd();
}
