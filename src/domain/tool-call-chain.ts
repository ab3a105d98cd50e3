import { wouldAsk } from './audit';
import type { Denial, Reason } from './denial';
import { concludeChain, type ProcessorAnswer } from './hook-chain';
import { hooksAt, type PlacedHook } from './hook';
import type { StoredWait } from './stored-wait';
import type { ToolCallStart } from './tool-call';
import { openWaitOf, type ToolCallState } from './tool-call-state';
import { ToolCallStep } from './tool-call-step';
import type { Transition } from './transition';
import { expireWait, type Wait, type WaitOutcome } from './wait';

export function noteStarted(step: ToolCallStep): void {
  const { start } = step;
  step.note({
    type: 'tool_call_started',
    data: {
      callId: start.callId,
      tool: start.tool,
      ...(start.toolUseId !== undefined && { toolUseId: start.toolUseId }),
      profileId: start.profile.id,
      profileVersion: start.profile.version,
      requestedBy: start.requestedBy.owner,
      subjectDigest: start.subject.digest,
    },
  });
}

/** Asks the next hooks in order until one parks the call or the chain has its verdict. */
export function proceed(step: ToolCallStep): void {
  const { start } = step;
  const hooks = hooksBefore(start);
  while (step.state.chain.verdict === undefined) {
    const placed = hooks[step.state.asked];
    if (placed === undefined) break;
    step.update({ asked: step.state.asked + 1 });
    if (placed.hook.mode === 'enforce') {
      step.openWait(placed, placed.hook.processor);
      return;
    }
    const { chain } = step.state;
    step.note(
      wouldAsk(placed, {
        callId: start.callId,
        profileVersion: start.profile.version,
        digest: chain.subject.digest,
      }),
    );
  }
  const verdict = concludeChain(step.state.chain);
  if (verdict.kind === 'allow') step.allow();
  else step.finish(verdict.denial.by === 'cancelled' ? 'cancelled' : 'denied', verdict.denial);
}

function hooksBefore(start: ToolCallStart): PlacedHook[] {
  return hooksAt(start.profile.hooks, 'before_tool_call');
}

/** The step that ends an open wait by the clock. */
export function expireOpenWait(start: ToolCallStart, state: ToolCallState, now: number): Transition {
  const open = openWaitOf(state);
  if (open === undefined) throw new Error('no wait is open');
  const step = new ToolCallStep(start, state, now);
  closeWithOutcome(step, open, expireWait(open.wait, now));
  proceed(step);
  return step.transition();
}

/** Closes the open wait with the outcome that it now has. */
export function closeWithOutcome(step: ToolCallStep, stored: StoredWait, wait: Wait): void {
  const { outcome } = wait;
  const placed = hooksBefore(step.start).find(({ index }) => index === wait.index);
  if (outcome === undefined || placed === undefined)
    throw new Error('a wait is closed with its outcome and its hook');
  step.closeWait({ ...stored, wait: { ...wait, outcome } }, placed, answerFrom(wait, outcome));
}

function answerFrom(wait: Wait, outcome: WaitOutcome): ProcessorAnswer {
  switch (outcome.kind) {
    case 'timeout':
      return { outcome: 'timeout', reason: { code: 'approval_timeout', text: 'nobody answered in time' } };
    case 'cancelled':
      return { outcome: 'cancelled', reason: cancellation(outcome), resolvedBy: [outcome.by] };
    case 'answered':
      return {
        outcome: 'answered',
        decision: outcome.decision,
        resolvedBy: outcome.by,
        ...(outcome.reason !== undefined && { reason: outcome.reason }),
        ...(wait.rewrote && outcome.decision !== 'deny' && { rewrite: wait.subject }),
      };
  }
}

export function cancelledDenial(
  { by, code }: { by: string; code: string },
  executed: false | 'unknown',
): Denial {
  return { by: 'cancelled', reason: cancellation({ by, code }), executed };
}

function cancellation({ by, code }: { by: string; code: string }): Reason {
  return { code, text: `given up by ${by}` };
}
