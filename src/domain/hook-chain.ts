import type { Denial, DeniedBy, Reason } from './denial';
import type { Judge } from './judge';
import { isAfterPoint } from './point';
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
  /** Whether a person's edit is in the subject. Absent in calls from before hooks could rewrite: every rewrite was one. */
  readonly edited?: boolean;
  /** At an after-point: whether the tool has run. Absent: it has. */
  readonly executed?: false | 'unknown';
  /** Whether a hook that is obeyed was asked. */
  readonly enforced?: true;
  readonly verdict?: Verdict;
}

export type Verdict =
  { readonly kind: 'allow'; readonly hookId?: string } | { readonly kind: 'deny'; readonly denial: Denial };

/** Who stands behind an answer. */
export type AnsweredBy = Extract<DeniedBy, 'human' | 'policy' | 'permission'>;

/** What a judge said, or how it failed to say anything. */
export type ProcessorAnswer =
  | {
      readonly outcome: 'answered';
      readonly by: AnsweredBy;
      readonly decision: 'allow' | 'deny' | 'defer';
      readonly reason?: string;
      readonly rewrite?: Subject;
      readonly resolvedBy?: readonly string[];
    }
  | { readonly outcome: 'timeout' | 'invalid' | 'unreachable' | 'nested_agent'; readonly reason: Reason }
  | { readonly outcome: 'cancelled'; readonly reason: Reason; readonly resolvedBy: readonly string[] };

export function startChain(subject: Subject): ChainState {
  return { subject, rewrittenBy: [], edited: false };
}

export function wasEdited({ edited, rewrittenBy }: ChainState): boolean {
  return edited ?? rewrittenBy.length > 0;
}

/** What an answer counts as once `onFailure` has been applied; this is what the audit calls its decision. */
export function effectiveDecision(
  { onFailure }: Pick<Judge, 'onFailure'>,
  answer: ProcessorAnswer,
): 'allow' | 'deny' | 'defer' {
  switch (answer.outcome) {
    case 'answered':
      return answer.decision;
    case 'cancelled':
      return 'deny';
    case 'timeout':
    case 'invalid':
    case 'unreachable':
    case 'nested_agent':
      return onFailure === 'fail_open' ? 'defer' : 'deny';
  }
}

export function applyAnswer(state: ChainState, judge: Judge, answer: ProcessorAnswer): ChainState {
  if (state.verdict !== undefined) throw new Error('the chain has its verdict; no further hook is asked');
  if (judge.mode === 'observe') return state;

  const decision = effectiveDecision(judge, answer);
  if (decision === 'deny') {
    return { ...state, verdict: { kind: 'deny', denial: denialOf(state, judge, answer) } };
  }
  const composed =
    answer.outcome === 'answered' && answer.rewrite !== undefined
      ? composeRewrite(state, judge, { by: answer.by, rewrite: answer.rewrite })
      : state;
  return decision === 'allow' ? { ...composed, verdict: { kind: 'allow', hookId: judge.id } } : composed;
}

/** Lets a rewrite into the chain (C2). */
export function composeRewrite(
  state: ChainState,
  judge: Judge,
  { by, rewrite }: { by: AnsweredBy; rewrite: Subject },
): ChainState {
  return {
    ...state,
    subject: rewrite,
    rewrittenBy: [...state.rewrittenBy, judge.id],
    edited: wasEdited(state) || by === 'human',
  };
}

/** The verdict once every matching hook has been asked. */
export function concludeChain(state: ChainState): Verdict {
  return state.verdict ?? { kind: 'allow' };
}

const DENIED = {
  human: 'denied_by_person',
  policy: 'denied_by_policy',
  permission: 'denied_by_permission',
} as const satisfies Record<AnsweredBy, string>;

/** What a model must know whose work is done already and is withheld. */
const WITHHELD = {
  after_tool_call: 'The tool has run. Its output is withheld; do not repeat the call.',
  after_output: 'The text is withheld.',
} as const;

function denialOf(state: ChainState, judge: Judge, answer: ProcessorAnswer): Denial {
  const { point } = judge;
  const executed = isAfterPoint(point) ? (state.executed ?? true) : false;
  const [by, { code, text }]: [DeniedBy, Reason] =
    answer.outcome === 'answered'
      ? [answer.by, { code: DENIED[answer.by], ...(answer.reason !== undefined && { text: answer.reason }) }]
      : [deniedBy(answer.outcome), answer.reason];
  const texts = [
    ...(isAfterPoint(point) ? [withheld(point, executed)] : []),
    ...(text === undefined ? [] : [text]),
  ];
  const reason = { code, ...(texts.length > 0 && { text: texts.join(' ') }) };
  return { by, hookId: judge.id, reason, executed };
}

function withheld(point: keyof typeof WITHHELD, executed: Denial['executed']): string {
  if (executed === true) return WITHHELD[point];
  return executed === false
    ? 'The tool has not run. Why is withheld.'
    : 'The tool may have run. What is known of it is withheld; do not repeat the call.';
}

function deniedBy(outcome: Exclude<ProcessorAnswer['outcome'], 'answered'>): DeniedBy {
  if (outcome === 'timeout' || outcome === 'cancelled') return outcome;
  return 'hook_failure';
}
