import type { ProcessorAnswer } from './hook-chain';
import { hooksAt, isUrlHook } from './hook';
import { judgeOfHook, UNMATCHED_TOOLS, type Judge } from './judge';
import type { StoredWait } from './stored-wait';
import type { CallStart } from './call';
import { askedPersonsWait, cancellation, proceed, timedOut, titleFor } from './call-chain';
import { openWait, recordOutcome } from './call-parking';
import { openWaitOf, type CallState } from './call-state';
import { CallStep } from './call-step';
import type { Transition } from './transition';
import { expireWait, type Wait, type WaitOutcome } from './wait';

/** The step that ends an open wait by the clock. */
export function expireOpenWait(start: CallStart, state: CallState, now: number): Transition {
  const open = openWaitOf(state);
  if (open === undefined) throw new Error('no wait is open');
  const step = new CallStep(start, state, now);
  closeWithOutcome(step, open, expireWait(open.wait, now));
  proceed(step);
  return step.transition();
}

/** Closes the open wait with the outcome that it now has, and lets that into the chain. */
export function closeWithOutcome(step: CallStep, stored: StoredWait, wait: Wait): void {
  const { outcome } = wait;
  if (outcome === undefined) throw new Error('a wait is closed with its outcome');
  const judge = judgeOfWait(step.start, wait);
  const rewrote = wait.rewrote && outcome.kind === 'answered' && outcome.decision !== 'deny';
  recordOutcome(step, { ...stored, wait: { ...wait, outcome } }, rewrote);

  const asked = {
    latencyMs: step.now - wait.openedAt,
    ...(wait.delivery !== undefined && { delivery: wait.delivery }),
  };
  if (outcome.kind === 'answered' && outcome.decision === 'ask') {
    const reason = outcome.reason === undefined ? {} : { reason: outcome.reason };
    step.decideToAsk(judge, { ...reason, ...(rewrote && { rewrite: wait.subject }) }, asked);
    const placed = hooksAt(step.start.profile.hooks, wait.point).find(({ index }) => index === wait.index);
    if (placed === undefined || !isUrlHook(placed))
      throw new Error('only a hook that is no person asks for one');
    const { asyncTimeoutMs } = placed.hook.processor;
    openWait(step, judge, askedPersonsWait(step.start, titleFor(step.start, wait.point), asyncTimeoutMs));
    return;
  }
  const answer = answerFrom(wait, outcome);
  // Whoever asked for a person has its decision recorded: that it asked. The person's answer is the wait's outcome.
  if (wait.kind === 'ask') step.decideUnrecorded(judge, answer);
  else step.decide(judge, answer, asked);
}

function judgeOfWait(start: CallStart, wait: Wait): Judge {
  if (wait.index === UNMATCHED_TOOLS.index) return UNMATCHED_TOOLS;
  const placed = hooksAt(start.profile.hooks, wait.point).find(({ index }) => index === wait.index);
  if (placed === undefined) throw new Error('a wait belongs to a hook of the pinned profile');
  return judgeOfHook(placed);
}

function answerFrom(wait: Wait, outcome: WaitOutcome): ProcessorAnswer {
  switch (outcome.kind) {
    case 'timeout':
      return timedOut(wait.kind === 'delivery' ? 'hook_answer_timeout' : 'approval_timeout');
    case 'cancelled':
      return { outcome: 'cancelled', reason: cancellation(outcome), resolvedBy: [outcome.by] };
    case 'answered': {
      const { decision } = outcome;
      if (decision === 'ask') throw new Error('asking for a person is no answer yet');
      return {
        outcome: 'answered',
        by: wait.kind === 'delivery' ? 'policy' : 'human',
        decision,
        resolvedBy: outcome.by,
        ...(outcome.reason !== undefined && { reason: outcome.reason }),
        ...(wait.rewrote && decision !== 'deny' && { rewrite: wait.subject }),
      };
    }
  }
}
