import { setHandler } from '@temporalio/workflow';
import type { CallStatus, TextStart } from '../../domain/call';
import {
  callStateQuery,
  cancelCallUpdate,
  catchUpSignal,
  decideUpdate,
  resolveWaitSignal,
  resolveWaitUpdate,
} from '../messages';
import { GatedCall } from './gated-call';

/** One text at a text point, until it is let through, withheld or given up. */
export async function textGate(start: TextStart): Promise<{ status: CallStatus }> {
  const text = new GatedCall(start);
  const { run } = text;
  setHandler(decideUpdate, () => text.firstOutcome());
  setHandler(resolveWaitUpdate, (input) => text.onceKnown(() => run.answer(input)));
  setHandler(cancelCallUpdate, (input) => text.onceKnown(() => run.cancel(input)));
  setHandler(catchUpSignal, () => text.onceKnown(() => run.catchUp()));
  setHandler(resolveWaitSignal, (payload) => text.takeOperatorSignal(payload));
  setHandler(callStateQuery, () => text.standing());
  return text.toItsEnd();
}
