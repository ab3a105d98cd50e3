import type { Denial, DeniedBy, Reason } from './denial';
import type { PlacedHook } from './hook';
import type { Subject } from './subject';

/**
 * How the answers of several hooks at one point become one decision. Pure; the workflow asks the hooks, this module
 * says what their answers mean.
 *
 *   C1  Hooks are asked in profile order; the first decision other than defer wins and no later hook is asked.
 *   C2  Rewrites compose in that order, each replacing the whole value; the next hook sees the composed value.
 *   C3  A hook that failed denies under fail_closed, and has no opinion under fail_open.
 *   C4  When every hook defers, the work goes on with the composed value.
 *   C5  A hook in mode observe changes nothing.
 *   C6  A cancelled hook denies, whatever its onFailure: nobody wants the work any more.
 */
export interface ChainState {
  readonly subject: Subject;
  /** Ids of the hooks whose rewrite is in the subject, in order. */
  readonly rewrittenBy: readonly string[];
  readonly verdict?: Verdict;
}

export type Verdict =
  { readonly kind: 'allow'; readonly hookId?: string } | { readonly kind: 'deny'; readonly denial: Denial };

/** What a processor said, or how it failed to say anything. */
export type ProcessorAnswer =
  | {
      readonly outcome: 'answered';
      readonly decision: 'allow' | 'deny' | 'defer';
      readonly reason?: string;
      readonly rewrite?: Subject;
      readonly resolvedBy?: readonly string[];
    }
  | { readonly outcome: 'timeout' | 'invalid' | 'unreachable' | 'nested_agent'; readonly reason: Reason }
  | { readonly outcome: 'cancelled'; readonly reason: Reason; readonly resolvedBy: readonly string[] };

export function startChain(subject: Subject): ChainState {
  return { subject, rewrittenBy: [] };
}

/** What a hook's answer counts as once `onFailure` has been applied; this is what the audit calls its decision. */
export function effectiveDecision({ hook }: PlacedHook, answer: ProcessorAnswer): 'allow' | 'deny' | 'defer' {
  switch (answer.outcome) {
    case 'answered':
      return answer.decision;
    case 'cancelled':
      return 'deny';
    case 'timeout':
    case 'invalid':
    case 'unreachable':
    case 'nested_agent':
      return hook.onFailure === 'fail_open' ? 'defer' : 'deny';
  }
}

export function applyAnswer(state: ChainState, placed: PlacedHook, answer: ProcessorAnswer): ChainState {
  if (state.verdict !== undefined) throw new Error('the chain has its verdict; no further hook is asked');
  const { hook } = placed;
  if (hook.mode === 'observe') return state;

  const decision = effectiveDecision(placed, answer);
  if (decision === 'deny') {
    return { ...state, verdict: { kind: 'deny', denial: denialOf(placed, answer) } };
  }
  const rewrite = answer.outcome === 'answered' ? answer.rewrite : undefined;
  const composed: ChainState =
    rewrite === undefined
      ? state
      : { ...state, subject: rewrite, rewrittenBy: [...state.rewrittenBy, hook.id] };
  return decision === 'allow' ? { ...composed, verdict: { kind: 'allow', hookId: hook.id } } : composed;
}

/** The verdict once every matching hook has been asked. */
export function concludeChain(state: ChainState): Verdict {
  return state.verdict ?? { kind: 'allow' };
}

function denialOf({ hook }: PlacedHook, answer: ProcessorAnswer): Denial {
  const common = { hookId: hook.id, executed: false } as const;
  if (answer.outcome === 'answered') {
    const by = ANSWERED_BY[hook.processor.type];
    const text = answer.reason === undefined ? {} : { text: answer.reason };
    return {
      ...common,
      by,
      reason: { code: 'denied_by_person', ...text },
    };
  }
  return { ...common, by: deniedBy(answer.outcome), reason: answer.reason };
}

const ANSWERED_BY = { client: 'human' } as const satisfies Record<string, DeniedBy>;

function deniedBy(outcome: Exclude<ProcessorAnswer['outcome'], 'answered'>): DeniedBy {
  if (outcome === 'timeout' || outcome === 'cancelled') return outcome;
  return 'hook_failure';
}
