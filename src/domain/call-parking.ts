import { isTextStart } from './call';
import { wasEdited } from './hook-chain';
import type { Judge } from './judge';
import type { StoredWait } from './stored-wait';
import { timestamp, type CallStep } from './call-step';
import type { Wait, WaitOutcome } from './wait';

/** What a judge asks a person, or promises to answer itself. */
export interface NewWait {
  readonly kind: Wait['kind'];
  readonly title: string;
  readonly timeoutMs: number;
  readonly needed: number;
  readonly approvers?: readonly string[];
  readonly allowSelfApproval: boolean;
  readonly delivery?: Wait['delivery'];
}

/** Parks the call. */
export function openWait(step: CallStep, judge: Judge, what: NewWait): void {
  const { start, now, state } = step;
  const { chain } = state;
  const waitsOpened = state.waitsOpened + 1;
  const wait: Wait = {
    id: `${start.callId}-w${waitsOpened}`,
    hookId: judge.id,
    index: judge.index,
    point: judge.point,
    kind: what.kind,
    title: what.title,
    subject: chain.subject,
    openedAt: now,
    expiresAt: now + what.timeoutMs,
    needed: what.needed,
    ...(what.approvers !== undefined && { approvers: what.approvers }),
    allowSelfApproval: what.allowSelfApproval,
    requestedBy: start.requestedBy.owner,
    edited: wasEdited(chain),
    rewrote: false,
    ...(what.delivery !== undefined && { delivery: what.delivery }),
    votes: [],
  };
  const expiresAt = timestamp(wait.expiresAt);
  step.update({ waitsOpened });
  step.putWait({
    wait,
    callId: start.callId,
    threadId: start.threadId,
    ...(isTextStart(start) ? {} : { tool: start.tool }),
    answers: [],
  });
  step.await({ expiresAt });
  step.note({
    type: 'wait_opened',
    data: {
      callId: start.callId,
      waitId: wait.id,
      hookId: wait.hookId,
      kind: wait.kind,
      needed: wait.needed,
      subjectDigest: wait.subject.digest,
      expiresAt,
    },
  });
}

/** Records the outcome of the open wait. */
export function recordOutcome(
  step: CallStep,
  stored: StoredWait & { wait: { outcome: WaitOutcome } },
  rewrote: boolean,
): void {
  const { wait } = stored;
  const { outcome } = wait;
  step.putWait(stored);
  step.note({
    type: 'wait_resolved',
    data: {
      callId: stored.callId,
      waitId: wait.id,
      hookId: wait.hookId,
      outcome: outcome.kind,
      ...(outcome.kind === 'answered' && { decision: outcome.decision }),
      by: resolversOf(outcome),
      subjectDigest: wait.subject.digest,
      ...(rewrote && { rewrote: true as const }),
    },
  });
}

function resolversOf(outcome: WaitOutcome): readonly string[] {
  if (outcome.kind === 'answered') return outcome.by;
  return outcome.kind === 'cancelled' ? [outcome.by] : [];
}
