import { blobsInUse } from './blobs-in-use';
import { startChain } from './hook-chain';
import { SERVICE_OWNER } from './principal';
import {
  isOpen,
  isToolCall,
  newCallRecord,
  runsHere,
  type CallStart,
  type CallStatus,
  type Executed,
} from './call';
import { cancelledDenial, consultPermissions, noteStarted, proceed } from './call-chain';
import { takeResult } from './call-execution';
import type { Outcome } from './call-outcome';
import { deadlineOf, openWaitOf, type ReportedResult, type CallState } from './call-state';
import { CallStep } from './call-step';
import { closeWithOutcome, expireOpenWait } from './call-wait';
import type { Transition } from './transition';
import { cancelWait } from './wait';

/**
 * The rules of a call, without Temporal and without a store: each function takes the state and one input and says
 * what to store and what to reply. The clock is an argument.
 */

/** The state before the first step. */
export function initialState(start: CallStart): CallState {
  const call = newCallRecord(start, 'waiting', start.createdAt);
  return { n: 0, call, chain: startChain(start.subject), asked: 0, waitsOpened: 0 };
}

/** The first step: goes through the hooks until one has to be asked, parks the call, or it is decided. */
export function openCall(start: CallStart, now: number): Transition {
  const step = new CallStep(start, initialState(start), now);
  noteStarted(step);
  consultPermissions(step);
  proceed(step);
  return step.transition();
}

/** The first step of a call whose thread was closed before it could be stored. */
export function openOnClosedThread(start: CallStart, now: number): Transition {
  const step = new CallStep(start, initialState(start), now);
  noteStarted(step);
  step.finish('cancelled', { denial: cancelledDenial({ by: SERVICE_OWNER, code: 'thread_closed' }, false) });
  return step.transition();
}

/** The clock has moved: ends what is due. Nothing is due: no step. */
export function tickCall(start: CallStart, state: CallState, now: number): Transition | undefined {
  const deadline = deadlineOf(state);
  if (deadline === undefined || now < deadline) return undefined;
  if (openWaitOf(state) !== undefined) return expireOpenWait(start, state, now);
  const step = new CallStep(start, state, now);
  step.finish('expired');
  return step.transition();
}

export interface CancelInput {
  readonly by: string;
  readonly code:
    'call_cancelled' | 'turn_cancelled' | 'thread_closed' | 'workflow_cancelled' | 'workflow_ended';
}

export type CancelReply = { readonly ok: true } | { readonly ok: false; readonly status: CallStatus };

/** Gives the call up; a call that has ended stays as it is. */
export function cancelCall(
  start: CallStart,
  state: CallState,
  { input, now }: { input: CancelInput; now: number },
): Outcome<CancelReply> {
  const { status } = state.call;
  if (!isOpen(status)) return { kind: 'reply', reply: { ok: false, status } };
  const step = new CallStep(start, state, now);
  if (state.n === 0) noteStarted(step);
  const open = openWaitOf(state);
  if (open !== undefined) {
    closeWithOutcome(step, open, cancelWait(open.wait, { ...input, now }));
    proceed(step);
  } else {
    step.finish('cancelled', { denial: cancelledDenial(input, hasExecuted(state)) });
  }
  return { kind: 'step', transition: step.transition(), reply: { ok: true } };
}

/** Nobody knows of a caller that was allowed to run the tool and has not said what came of it. */
function hasExecuted({ call, reported, run }: CallState): Executed {
  if (reported !== undefined) return reported.executed ?? true;
  // Nobody can begin to run it any more: that would be the step whose number this one takes.
  if (call.status === 'running' || (isToolCall(call) && call.execution === 'server'))
    return run === undefined ? false : 'unknown';
  return call.status === 'waiting' ? false : 'unknown';
}

export type ResultInput = ReportedResult;

export type ResultReply =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code: 'not_decided' | 'being_judged' | 'ended';
      readonly status: CallStatus;
    };

/** The caller ran the tool and says what came of it; the hooks after the tool judge that. */
export function reportResult(
  start: CallStart,
  state: CallState,
  { input, now }: { input: ResultInput; now: number },
): Outcome<ResultReply> {
  const due = tickCall(start, state, now);
  if (due !== undefined && state.call.status === 'allowed') {
    return { kind: 'step', transition: due, reply: { ok: false, code: 'ended', status: 'expired' } };
  }
  const { status } = state.call;
  // A worker that stored this very report died before it could say so.
  if (state.reported?.blob.blob === input.blob.blob) return { kind: 'reply', reply: { ok: true } };
  if (state.reported !== undefined && isOpen(status)) {
    return { kind: 'reply', reply: { ok: false, code: 'being_judged', status } };
  }
  if (status !== 'allowed' || runsHere(start)) {
    const code = status === 'waiting' ? 'not_decided' : 'ended';
    return { kind: 'reply', reply: { ok: false, code, status } };
  }
  const step = new CallStep(start, state, now);
  takeResult(step, input);
  return { kind: 'step', transition: step.transition(), reply: { ok: true } };
}

/** Says again where the call stands, for a store that lost it. The step keeps its number and adds no events. */
export function restate(start: CallStart, state: CallState): Transition {
  const { n, call, wait, pending } = state;
  return {
    n,
    state,
    at: call.updatedAt,
    call,
    waits: wait === undefined ? [] : [wait],
    events: [],
    keepBlobs: blobsInUse(start, state),
    ...(pending !== undefined && { indexPending: pending.identity }),
  };
}
