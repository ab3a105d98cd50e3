import type { HookResult } from './hook-result';
import type { Point } from './point';
import { isApprover, TEMPORAL_OPERATOR, type Principal } from './principal';
import type { Subject } from './subject';

/**
 * A wait: parked work that somebody outside must resolve. This module is its state machine.
 *
 *   open ──vote──▶ open          a quorum is not yet complete
 *   open ──answer──▶ answered    allow, deny or defer
 *   open ──clock──▶ timeout      nobody answered before `expiresAt`
 *   open ──cancel──▶ cancelled   the call, or its thread, was given up
 *
 * Invariants, cited by the tests:
 *   W1  An outcome, once there, never changes.
 *   W2  Only the given clock decides: at or past `expiresAt` every answer is refused, whenever it was sent.
 *   W3  Votes count for one value. An edit starts the count anew with the edited value and its editor's vote.
 *   W4  One owner is one vote, with however many keys.
 *   W5  One deny ends the wait, whatever the quorum.
 *   W6  Nobody lets a value through unseen: with a quorum, or after a person's edit, an answer that lets the value
 *       through names its digest.
 */
export interface Wait {
  readonly id: string;
  readonly hookId: string;
  readonly index: number;
  readonly point: Point;
  /** `client`: a client hook asks a person. `ask`: another rule does. `delivery`: a hook answers later. */
  readonly kind: 'client' | 'delivery' | 'ask';
  readonly title: string;
  readonly subject: Subject;
  /** Milliseconds since the epoch, by the workflow's clock. */
  readonly openedAt: number;
  readonly expiresAt: number;
  readonly needed: number;
  readonly approvers?: readonly string[];
  readonly allowSelfApproval: boolean;
  /** The owner who asked for the call. */
  readonly requestedBy: string;
  /** Whether a person has edited the value, in this wait or at an earlier hook. */
  readonly edited: boolean;
  /** Whether this wait's own subject came from a voter. */
  readonly rewrote: boolean;
  /** Of a wait of kind `delivery`. */
  readonly delivery?: { readonly deliveryId: string; readonly attempts: number };
  readonly votes: readonly Vote[];
  readonly outcome?: WaitOutcome;
}

/** One owner's consent to the wait's present subject. */
export interface Vote {
  readonly owner: string;
  readonly at: number;
}

export type WaitOutcome =
  | {
      readonly kind: 'answered';
      readonly decision: HookResult['decision'];
      /** Owners; of a delivery the hook itself (`hookPrincipal`). */
      readonly by: readonly string[];
      readonly at: number;
      readonly reason?: string;
    }
  | { readonly kind: 'timeout'; readonly at: number }
  | { readonly kind: 'cancelled'; readonly by: string; readonly code: string; readonly at: number };

export interface WaitAnswer {
  readonly decision: HookResult['decision'];
  readonly reason?: string;
  /** The edited value. */
  readonly rewrite?: Subject;
  /** The digest of the value that the resolver saw. */
  readonly subjectDigest?: string;
}

export type WaitRefusal =
  | { readonly code: 'already_resolved'; readonly outcome: WaitOutcome }
  | { readonly code: 'expired' }
  | { readonly code: 'cancelled' }
  | { readonly code: 'not_an_approver' }
  | { readonly code: 'own_call' }
  | { readonly code: 'operator_signal_off' }
  | { readonly code: 'digest_mismatch'; readonly subjectDigest: string }
  | { readonly code: 'digest_required' }
  | { readonly code: 'defer_skips_quorum' };

export type WaitStep =
  | { readonly kind: 'refused'; readonly refusal: WaitRefusal }
  | { readonly kind: 'voted'; readonly wait: Wait; readonly counted: number; readonly isNew: boolean }
  | { readonly kind: 'resolved'; readonly wait: Wait & { readonly outcome: WaitOutcome } };

/** Applies one answer. `now` is the workflow's clock. */
export function answerWait(
  wait: Wait,
  { answer, principal, now }: { answer: WaitAnswer; principal: Principal; now: number },
): WaitStep {
  const refusal = refuse(wait, answer, principal, now);
  if (refusal !== undefined) return { kind: 'refused', refusal };

  const reason = answer.reason === undefined ? {} : { reason: answer.reason };
  const settle = (next: Wait, by: readonly string[]): WaitStep => ({
    kind: 'resolved',
    wait: { ...next, outcome: { kind: 'answered', decision: answer.decision, by, at: now, ...reason } },
  });
  if (answer.decision === 'deny') return settle(wait, [principal.owner]);

  const edited = answer.rewrite === undefined ? wait : withEdit(wait, answer.rewrite);
  const isNew = !edited.votes.some(({ owner }) => owner === principal.owner);
  const votes = isNew ? [...edited.votes, { owner: principal.owner, at: now }] : edited.votes;
  const next = { ...edited, votes };
  if (votes.length < wait.needed) return { kind: 'voted', wait: next, counted: votes.length, isNew };
  return settle(
    next,
    votes.map(({ owner }) => owner),
  );
}

/** Ends an open wait by the clock; a wait that is not due, or has its outcome, is returned as it is. */
export function expireWait(wait: Wait, now: number): Wait {
  if (wait.outcome !== undefined || now < wait.expiresAt) return wait;
  return { ...wait, outcome: { kind: 'timeout', at: now } };
}

/** Ends an open wait because nobody wants its work any more; `code` says why. */
export function cancelWait(wait: Wait, { by, code, now }: { by: string; code: string; now: number }): Wait {
  if (wait.outcome !== undefined) return wait;
  return { ...wait, outcome: { kind: 'cancelled', by, code, at: now } };
}

/** Why no more answers are taken once a wait has its outcome. */
export function refusalAfter(outcome: WaitOutcome): WaitRefusal {
  switch (outcome.kind) {
    case 'answered':
      return { code: 'already_resolved', outcome };
    case 'timeout':
      return { code: 'expired' };
    case 'cancelled':
      return { code: 'cancelled' };
  }
}

function withEdit(wait: Wait, subject: Subject): Wait {
  return { ...wait, subject, edited: true, rewrote: true, votes: [] };
}

function refuse(wait: Wait, answer: WaitAnswer, principal: Principal, now: number): WaitRefusal | undefined {
  // Standing is checked before state: who may not answer learns nothing about the outcome.
  const standing = refuseForStanding(wait, principal);
  if (standing !== undefined) return standing;
  if (wait.outcome !== undefined) return refusalAfter(wait.outcome);
  if (now >= wait.expiresAt) return { code: 'expired' };
  return refuseForContent(wait, answer);
}

function refuseForStanding(wait: Wait, principal: Principal): WaitRefusal | undefined {
  if (wait.approvers !== undefined && !isApprover(wait.approvers, principal))
    return { code: 'not_an_approver' };
  if (principal.owner === wait.requestedBy && !wait.allowSelfApproval) return { code: 'own_call' };
  return undefined;
}

function refuseForContent(wait: Wait, answer: WaitAnswer): WaitRefusal | undefined {
  if (answer.subjectDigest !== undefined && answer.subjectDigest !== wait.subject.digest) {
    return { code: 'digest_mismatch', subjectDigest: wait.subject.digest };
  }
  if (answer.decision === 'deny') return undefined;
  // A defer by one person would carry the work past the others.
  if (answer.decision === 'defer' && wait.needed > 1) return { code: 'defer_skips_quorum' };
  if (answer.subjectDigest === undefined && (wait.needed > 1 || wait.edited))
    return { code: 'digest_required' };
  return undefined;
}

/** Whether people may answer by the Temporal UI or command line is a setting of the tenant. */
export function refuseOperator(principal: Principal, allowed: boolean): WaitRefusal | undefined {
  return principal.owner === TEMPORAL_OPERATOR.owner && !allowed
    ? { code: 'operator_signal_off' }
    : undefined;
}
