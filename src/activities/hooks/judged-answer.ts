import { v4 } from 'uuid';
import type { CallFacts, JudgedValue } from '../../domain/call-facts';
import type { HookResult } from '../../domain/hook-result';
import { inputFault } from '../../domain/input-schema';
import type { HookAnswer } from '../../domain/call-evaluation';
import type { CallStart } from '../../domain/call';
import type { Point } from '../../domain/point';
import { keepSubject } from '../../store/keep-subject';
import type { TenantStore } from '../../store/tenant-store';
import type { Asked } from './ask-hook';

/** A call as its hook is asked about it. */
export interface AskedCall {
  readonly store: TenantStore;
  readonly start: CallStart;
  readonly facts: CallFacts;
  readonly point: Point;
  /** What it is asked about. */
  readonly judged: JudgedValue;
}

/** What asking came to, as the rules take it. */
export async function judgedAnswer(
  call: AskedCall,
  asked: Exclude<Asked, { kind: 'undecided' }>,
): Promise<HookAnswer> {
  if (asked.kind === 'failed') {
    const { outcome, code, text } = asked.failure;
    return { kind: 'failed', outcome, reason: { code, text } };
  }
  if (asked.attempt.kind === 'later') return { kind: 'later' };
  return judgedResult(call, asked.attempt.result);
}

/** Makes the rewrite of a HookResult a subject of the call; one that the tool's schema refuses is no answer. */
export async function judgedResult(
  { store, start, facts, point, judged: asked }: AskedCall,
  { decision, reason, rewrite }: HookResult,
): Promise<Extract<HookAnswer, { kind: 'result' | 'failed' }>> {
  const said = { decision, ...(reason !== undefined && { reason }) };
  if (rewrite === undefined) return { kind: 'result', result: said };
  const judged: JudgedValue = { ...asked, value: rewrite.value };
  const { inputSchema } = start.profile;
  if (judged.kind === 'input' && inputSchema !== undefined) {
    const fault = inputFault(inputSchema, judged.value);
    if (fault !== undefined) {
      const text = `Its rewrite ${fault.detail}.`;
      return { kind: 'failed', outcome: 'invalid', reason: { code: 'rewrite_refused', text } };
    }
  }
  const origin = { callId: start.callId, profile: start.profile, point, facts };
  const subject = await keepSubject(store, origin, judged, () => `edit-${v4()}`);
  return { kind: 'result', result: { ...said, rewrite: subject } };
}
