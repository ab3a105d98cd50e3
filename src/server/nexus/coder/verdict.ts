import type { EventAnswer } from '../../../coder/answer';
import type { LifecycleEvent } from '../../../domain/audit';
import { openWaitOf, type CallState } from '../../../domain/call-state';
import type { Denial } from '../../../domain/denial';

/** What an event is answered, and what the audit says of it. */
export interface Verdict {
  readonly answer: EventAnswer;
  readonly audit: Pick<LifecycleEvent, 'decision' | 'rewrote' | 'reason' | 'threadId' | 'callId' | 'tool'>;
}

export const NO_OPINION: Verdict = { answer: {}, audit: { decision: 'none' } };

/** A denial of the hook server's own: nothing was judged. */
export function refused(code: string, text: string, more: Partial<Verdict['audit']> = {}): Verdict {
  return {
    answer: { permission: { decision: 'deny', reason: text } },
    audit: { ...more, decision: 'deny', reason: { code, text } },
  };
}

export function denied({ by, hookId, reason, executed }: Denial, more: Partial<Verdict['audit']>): Verdict {
  const who = hookId === undefined ? by : `${by}, ${hookId}`;
  const ran = executed === false ? '' : ` Whether it has run: ${String(executed)}.`;
  const text = `Denied (${who}): ${reason.text ?? reason.code}.${ran}`;
  return {
    answer: { permission: { decision: 'deny', reason: text } },
    audit: { ...more, decision: 'deny', reason },
  };
}

/** Undecided when the sender's time was over: the same again later gets the decision. */
export function pending(
  { what, where, again }: { what: string; where: string | undefined; again: string },
  more: Partial<Verdict['audit']>,
): Verdict {
  const place = where === undefined ? '' : ` It can be approved at ${where}.`;
  const text = `Not decided yet: this waits for ${what}.${place} ${again}`;
  return {
    answer: { permission: { decision: 'deny', reason: text } },
    audit: { ...more, decision: 'pending', reason: { code: 'pending', text } },
  };
}

/** What a parked call waits for, and where it is answered. */
export function waitPlace(
  state: CallState,
  publicUrl: string | undefined,
): { what: string; where: string | undefined } {
  const open = openWaitOf(state);
  if (open === undefined) return { what: 'its hooks', where: undefined };
  const path = `/v1/threads/${state.call.threadId}/waits/${open.wait.id}/resolve`;
  return { what: open.wait.title, where: publicUrl === undefined ? path : publicUrl + path };
}
