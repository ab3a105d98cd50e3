import { patched } from '@temporalio/workflow';
import { canonicalJson, sha256Hex } from '../../domain/digest';
import { readHookResult } from '../../domain/hook-result';
import type { JsonValue } from '../../domain/json-value';
import { isQuarantined, type Point } from '../../domain/point';
import { TEMPORAL_OPERATOR } from '../../domain/principal';
import { inlineSubject, type Subject } from '../../domain/subject';
import { isTextStart, type CallStart } from '../../domain/call';
import type { AnswerInput } from '../../domain/call-answer';
import type { PatchId } from '../patches';
import { keepSignalledEdit } from './hook-asking';

export type SignalReading =
  { readonly ok: true; readonly input: AnswerInput } | { readonly ok: false; readonly problem: string };

/**
 * Reads the payload of the `resolveWait` signal as strictly as an HTTP body: a HookResult with `waitId` and, if the
 * sender likes, `subjectDigest`. Whoever may signal is the one principal `temporal-operator`; a name in the payload is
 * an unknown member. Where values must stay out of Temporal's history a signal may decide, and not rewrite.
 */
export async function readOperatorSignal(
  start: CallStart,
  payload: JsonValue,
  point: Point,
): Promise<SignalReading> {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) {
    return refused('send an object with waitId and decision');
  }
  const { waitId, subjectDigest, ...body } = payload as Record<string, JsonValue>;
  if (typeof waitId !== 'string') return refused('waitId is missing; it is shown in the details');
  if (subjectDigest !== undefined && typeof subjectDigest !== 'string') {
    return refused('subjectDigest is a string');
  }
  const reading = readHookResult(body, point);
  if (!reading.ok) {
    return refused(reading.faults.map(({ pointer, detail }) => `${pointer}: ${detail}`).join('; '));
  }
  const { decision, reason, rewrite } = reading.result;
  if (rewrite !== undefined && isQuarantined(point)) {
    return refused(
      'a value that is withheld until it is judged is not rewritten by signal; send the new one over HTTP',
    );
  }
  const edit = rewrite === undefined ? undefined : await keptEdit(start, rewrite.value);
  if (typeof edit === 'string') return refused(edit);
  const answerDigest = sha256Hex(canonicalJson(payload));
  return {
    ok: true,
    input: {
      waitId,
      // The same signal sent twice is one answer.
      answerId: `signal:${answerDigest}`,
      answerDigest,
      principal: TEMPORAL_OPERATOR,
      answer: {
        decision,
        ...(reason !== undefined && { reason }),
        ...(subjectDigest !== undefined && { subjectDigest }),
        ...(edit !== undefined && { rewrite: edit }),
      },
    },
  };
}

/** The edited input as a subject, or what is wrong with it. */
async function keptEdit(start: CallStart, value: JsonValue): Promise<Subject | string> {
  const { tenant, callId } = start;
  if (isTextStart(start)) throw new Error('a text is not rewritten by signal');
  if (patched('edit-kept-by-activity' satisfies PatchId)) {
    const kept = await keepSignalledEdit({ tenant, callId, value });
    return kept.kind === 'kept' ? kept.subject : kept.problem;
  }
  return inlineSubject({ point: 'before_tool_call', tool: start.tool, value });
}

function refused(problem: string): SignalReading {
  return { ok: false, problem };
}
