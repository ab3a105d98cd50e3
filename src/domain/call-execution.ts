import { startChain } from './hook-chain';
import { runsHere, type CallStart } from './call';
import { proceed } from './call-chain';
import { isRunDue, type CallState, type ReportedResult } from './call-state';
import { CallStep } from './call-step';
import type { Transition } from './transition';

/**
 * Tools that the service runs.
 *
 *   X1  That the tool is begun is a step of the call, stored before anything is sent. Of any number of workers that hold
 *       the same work, one stores it (transition.ts, T1), and only that one runs the tool.
 *   X2  A worker that finds the tool begun by another one does not run it. Nobody knows then what came of it, and that
 *       is the result; unless the tool is declared idempotent: then it is run again, under the same idempotency key.
 *   X3  A result that comes after another one was recorded changes nothing.
 */

/** Times that an idempotent tool is begun, at most. */
export const MAX_RUNS = 3;

export type Beginning =
  /** Store this step first; only if it is the first of its number, the tool may run. */
  | { readonly kind: 'begin'; readonly transition: Transition }
  /** This worker has stored that it begins. */
  | { readonly kind: 'begun' }
  /** Another worker has begun it and told nothing: it may have run. */
  | { readonly kind: 'interrupted' }
  /** It has its result, or nobody wants it any more. */
  | { readonly kind: 'not_due' };

/** @param token names the worker's attempt, and no other */
export function beginRun(
  start: CallStart,
  state: CallState,
  { token, now, idempotent }: { token: string; now: number; idempotent: boolean },
): Beginning {
  if (!isRunDue(state)) return { kind: 'not_due' };
  const { run } = state;
  if (run?.token === token) return { kind: 'begun' };
  if (run !== undefined && (!idempotent || run.attempts >= MAX_RUNS)) return { kind: 'interrupted' };
  const attempts = (run?.attempts ?? 0) + 1;
  const step = new CallStep(start, state, now);
  step.update({ run: { token, attempts } });
  step.note({
    type: 'tool_started',
    data: { callId: start.callId, attempt: attempts, subjectDigest: state.chain.subject.digest },
  });
  return { kind: 'begin', transition: step.transition() };
}

/** What came of the tool; the hooks after it judge that. Nothing: it is not due any more. */
export function finishRun(
  start: CallStart,
  state: CallState,
  { reported, now }: { reported: ReportedResult; now: number },
): Transition | undefined {
  if (!isRunDue(state)) return undefined;
  const step = new CallStep(start, state, now);
  takeResult(step, reported);
  return step.transition();
}

/** Takes what the tool gave into the call, and goes on to the hooks after it. */
export function takeResult(step: CallStep, reported: ReportedResult): void {
  const { result, blob, executed } = reported;
  const { callId } = step.start;
  step.note({
    type: 'tool_finished',
    data: { callId, result, digest: blob.digest, ...(executed !== undefined && { executed }) },
  });
  const { pending } = step.state;
  step.update({
    reported,
    chain: { ...startChain(blob), ...(executed !== undefined && executed !== true && { executed }) },
    asked: 0,
    // A tool that has run is not handed out any more.
    ...(pending !== undefined && { pending: { ...pending, handedTo: pending.handedTo ?? '' } }),
  });
  step.updateToolCall({
    reportedDigest: blob.digest,
    ...(runsHere(step.start) && { executed: executed ?? true }),
  });
  proceed(step);
}
