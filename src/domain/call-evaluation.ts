import type { Reason } from './denial';
import type { HookResult } from './hook-result';
import { judgeOfHook } from './judge';
import { openWait } from './call-parking';
import type { PlacedAskedHook } from './hook';
import { MAX_WAIT_MS } from './hook-limits';
import { hookPrincipal } from './principal';
import type { Subject } from './subject';
import { askedPersonsWait, proceed, titleFor } from './call-chain';
import { dueHook } from './call-state';
import type { Asked, CallStep } from './call-step';

/** What came of asking a hook, by HTTP or of another model. */
export type HookAnswer =
  /** It answered; `late` when its answer came to the callback before the promise of it had been read. */
  | { readonly kind: 'result'; readonly result: JudgedResult; readonly late?: true }
  /** It will answer later. */
  | { readonly kind: 'later' }
  | {
      readonly kind: 'failed';
      readonly outcome: 'timeout' | 'invalid' | 'unreachable' | 'nested_agent';
      readonly reason: Reason;
    };

/** A HookResult whose rewrite has become a subject. */
export interface JudgedResult {
  readonly decision: HookResult['decision'];
  readonly reason?: string;
  readonly rewrite?: Subject;
}

/**
 * Lets the answer of the due hook into the chain and goes on to the next hook. The state after it is decided by the
 * answer alone, so whoever stores this step first has decided what the hook said.
 */
export function applyHookAnswer(step: CallStep, answer: HookAnswer, asked: Asked): void {
  const placed = dueHook(step.start, step.state);
  if (placed === undefined) throw new Error('no hook is due');
  const { due: _, ...state } = step.state;
  step.state = { ...state, asked: state.asked + 1 };
  if (letAnswerIn(step, placed, answer, asked) === 'go_on') proceed(step);
}

function letAnswerIn(
  step: CallStep,
  placed: PlacedAskedHook,
  answer: HookAnswer,
  asked: Asked,
): 'go_on' | 'parked' {
  const judge = judgeOfHook(placed);
  const { hook } = placed;
  const enforced = hook.mode === 'enforce';
  switch (answer.kind) {
    case 'failed':
      step.decide(judge, { outcome: answer.outcome, reason: answer.reason }, asked);
      return 'go_on';
    case 'later':
      if (!enforced) {
        const reason = 'it would have answered later';
        step.decide(judge, { outcome: 'answered', by: 'policy', decision: 'defer', reason }, asked);
        return 'go_on';
      }
      if (asked.delivery === undefined || hook.processor.type !== 'url')
        throw new Error('only a delivery is answered later');
      openWait(step, judge, {
        kind: 'delivery',
        title: `Answer of hook ${hook.id}`,
        timeoutMs: hook.processor.asyncTimeoutMs,
        needed: 1,
        approvers: [hookPrincipal(hook.id).owner],
        allowSelfApproval: false,
        delivery: asked.delivery,
      });
      return 'parked';
    case 'result': {
      const { decision, reason, rewrite } = answer.result;
      const said = { ...(reason !== undefined && { reason }), ...(rewrite !== undefined && { rewrite }) };
      if (decision !== 'ask') {
        const by = answer.late === true ? { resolvedBy: [hookPrincipal(hook.id).owner] } : {};
        step.decide(judge, { outcome: 'answered', by: 'policy', decision, ...said, ...by }, asked);
        return 'go_on';
      }
      step.decideToAsk(judge, said, asked);
      if (!enforced) return 'go_on';
      openWait(
        step,
        judge,
        askedPersonsWait(
          step.start,
          titleFor(step.start, hook.point),
          hook.processor.asyncTimeoutMs ?? MAX_WAIT_MS,
        ),
      );
      return 'parked';
    }
  }
}
