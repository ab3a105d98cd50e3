import type { CallStatus, CallStart } from './call';
import { isOpen, isTextStart, runsHere } from './call';
import type { Outcome } from './call-outcome';
import { isParked, type CallState } from './call-state';
import { CallStep, timestamp } from './call-step';

/**
 * Callers that cannot wait. An undecided call is answered as a denial `pending`, and goes on. Its decision is handed
 * out once: to the first that asks again, under the model's old id of the call or under a new one.
 *
 *   P1  A call is indexed under its identity before anybody is told `pending`.
 *   P2  The index only finds; this decides. Of any number of identical requests one gets the approved value.
 *   P3  Whoever has asked before under the same id is told how the call stands now, every time.
 *   P4  An approval that nobody picks up in `approvalGrantTtlMs` ends as `expired`.
 */
export interface PendingInput {
  readonly identity: string;
  /** What the caller calls itself by: the model's id of the call, or one that is unique to the request. */
  readonly claimant: string;
  /** The model's id of the call, when it gave one. */
  readonly toolUseId?: string;
}

export type PendingReply =
  /** Undecided: the caller may be told `pending`, and finds the call again. */
  | { readonly kind: 'pending' }
  /** The call as it stands now is this caller's. */
  | { readonly kind: 'yours'; readonly status: CallStatus }
  /** Another caller has the decision. */
  | { readonly kind: 'taken' };

/** Remembers that the caller is about to be told `pending`, unless the call is decided by now. */
export function answerPending(
  start: CallStart,
  state: CallState,
  { input, now }: { input: PendingInput; now: number },
): Outcome<PendingReply> {
  if (!isParked(state)) return claimDecision(start, state, { input, now });
  const { pending } = state;
  if (pending?.claimants.includes(input.claimant) === true)
    return { kind: 'reply', reply: { kind: 'pending' } };
  const step = new CallStep(start, state, now);
  if (pending === undefined) step.rememberPending(input.identity, [input.claimant]);
  else step.addClaimant(input.claimant);
  addAlias(step, input);
  return { kind: 'step', transition: step.transition(), reply: { kind: 'pending' } };
}

/** An identical request asks for the decision of a call that was answered `pending`. */
export function claimDecision(
  start: CallStart,
  state: CallState,
  { input, now }: { input: PendingInput; now: number },
): Outcome<PendingReply> {
  const { pending, call } = state;
  const yours: Outcome<PendingReply> = { kind: 'reply', reply: { kind: 'yours', status: call.status } };
  // Decided before anybody was told `pending`: the call is still its first caller's.
  if (pending === undefined) return yours;
  if (isParked(state)) return answerPending(start, state, { input, now });
  if (pending.handedTo !== undefined) {
    return pending.claimants.includes(input.claimant) && pending.handedTo === input.claimant
      ? yours
      : { kind: 'reply', reply: { kind: 'taken' } };
  }
  if (!isOpen(call.status)) return yours;
  const step = new CallStep(start, state, now);
  step.addClaimant(input.claimant, input.claimant);
  addAlias(step, input);
  if (runsHere(start)) step.run();
  else step.updateCall({ expiresAt: timestamp(now + start.profile.timeouts.outputTimeoutMs) });
  const { status } = step.state.call;
  return { kind: 'step', transition: step.transition(), reply: { kind: 'yours', status } };
}

function addAlias(step: CallStep, { toolUseId }: PendingInput): void {
  const own = isTextStart(step.start) ? undefined : step.start.toolUseId;
  if (toolUseId !== undefined && toolUseId !== own) step.addAlias(toolUseId);
}
