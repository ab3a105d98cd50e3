import { isQuarantined } from './point';
import type { Principal } from './principal';
import type { AcceptedAnswer, ResolveResult, StoredWait } from './stored-wait';
import type { CallStart } from './call';
import { proceed } from './call-chain';
import { closeWithOutcome, expireOpenWait } from './call-wait';
import type { Outcome } from './call-outcome';
import { openWaitOf, pointOf, type CallState } from './call-state';
import { CallStep } from './call-step';
import {
  answerWait,
  refuseOperator,
  type Wait,
  type WaitAnswer,
  type WaitOutcome,
  type WaitRefusal,
} from './wait';

export interface AnswerInput {
  readonly waitId: string;
  readonly answerId: string;
  readonly answerDigest: string;
  readonly answer: WaitAnswer;
  readonly principal: Principal;
}

export type ResolveReply =
  | { readonly ok: true; readonly result: ResolveResult }
  | { readonly ok: false; readonly refusal: ResolveRefusal };

export type ResolveRefusal =
  WaitRefusal | { readonly code: 'unknown_wait' } | { readonly code: 'answer_id_reused' };

/** Somebody's answer to a wait. */
export function answerCall(
  start: CallStart,
  state: CallState,
  { input, now }: { input: AnswerInput; now: number },
): Outcome<ResolveReply> {
  const stored = state.wait;
  if (stored?.wait.id !== input.waitId) return refuse({ code: 'unknown_wait' });
  const first = stored.answers.find(({ answerId }) => answerId === input.answerId);
  if (first !== undefined) return replyAgain(first, input.answerDigest);
  const operator = refuseOperator(input.principal, start.operatorSignal);
  if (operator !== undefined) return refuse(operator);

  const step = answerWait(stored.wait, { answer: input.answer, principal: input.principal, now });
  switch (step.kind) {
    case 'refused':
      return step.refusal.code === 'expired' && stored.wait.outcome === undefined
        ? {
            kind: 'step',
            transition: expireOpenWait(start, state, now),
            reply: { ok: false, refusal: step.refusal },
          }
        : refuse(step.refusal);
    case 'voted':
      return countVote(start, state, { stored, wait: step.wait, input, now, isNew: step.isNew });
    case 'resolved':
      return resolveWait(start, state, { stored, wait: step.wait, input, now });
  }
}

function resolveWait(
  start: CallStart,
  state: CallState,
  at: { stored: StoredWait; wait: Wait & { outcome: WaitOutcome }; input: AnswerInput; now: number },
): Outcome<ResolveReply> {
  const { stored, wait, input, now } = at;
  const result: ResolveResult = {
    kind: 'resolved',
    outcome: wait.outcome,
    subjectDigest: wait.subject.digest,
  };
  const step = new CallStep(start, state, now);
  closeWithOutcome(step, withAnswer(stored, input, result), wait);
  if (openWaitOf(step.state) === undefined) proceed(step);
  return { kind: 'step', transition: step.transition(), reply: { ok: true, result } };
}

function countVote(
  start: CallStart,
  state: CallState,
  at: { stored: StoredWait; wait: Wait; input: AnswerInput; now: number; isNew: boolean },
): Outcome<ResolveReply> {
  const { stored, wait, input, now, isNew } = at;
  const counted = wait.votes.length;
  const subjectDigest = wait.subject.digest;
  const result: ResolveResult = { kind: 'counted', counted, needed: wait.needed, subjectDigest };
  if (!isNew) return { kind: 'reply', reply: { ok: true, result } };
  const step = new CallStep(start, state, now);
  step.putWait({ ...withAnswer(stored, input, result), wait });
  if (pointOf(state) === 'before_tool_call') step.updateToolCall({ input: wait.subject });
  const rewrote = input.answer.rewrite !== undefined;
  step.note({
    type: 'wait_vote',
    data: {
      callId: start.callId,
      waitId: wait.id,
      hookId: wait.hookId,
      by: input.principal.owner,
      counted,
      needed: wait.needed,
      subjectDigest,
      ...(rewrote && { rewrote: true as const }),
    },
    ...(rewrote && !isQuarantined(wait.point) && { shows: wait.subject }),
  });
  return { kind: 'step', transition: step.transition(), reply: { ok: true, result } };
}

function withAnswer(stored: StoredWait, input: AnswerInput, result: ResolveResult): StoredWait {
  const { answerId, answerDigest } = input;
  const accepted: AcceptedAnswer = { answerId, answerDigest, result };
  return { ...stored, answers: [...stored.answers, accepted] };
}

/** What a repeated answer is told: the first reply, unless another answer comes under the same id. */
export function replyAgain(first: AcceptedAnswer, answerDigest: string): Outcome<ResolveReply> {
  return first.answerDigest === answerDigest
    ? { kind: 'reply', reply: { ok: true, result: first.result } }
    : refuse({ code: 'answer_id_reused' });
}

function refuse(refusal: ResolveRefusal): Outcome<ResolveReply> {
  return { kind: 'reply', reply: { ok: false, refusal } };
}
