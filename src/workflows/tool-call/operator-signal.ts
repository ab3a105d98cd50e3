import { canonicalJson, sha256Hex } from '../../domain/digest';
import { readHookResult } from '../../domain/hook-result';
import { MAX_JSON_BYTES, type JsonValue } from '../../domain/json-value';
import { TEMPORAL_OPERATOR } from '../../domain/principal';
import { inlineSubject } from '../../domain/subject';
import type { ToolCallStart } from '../../domain/tool-call';
import type { AnswerInput } from '../../domain/tool-call-answer';

export type SignalReading =
  { readonly ok: true; readonly input: AnswerInput } | { readonly ok: false; readonly problem: string };

/**
 * Reads the payload of the `resolveWait` signal as strictly as an HTTP body: a HookResult with `waitId` and, if the
 * sender likes, `subjectDigest`. Whoever may signal is the one principal `temporal-operator`; a name in the payload is
 * an unknown member.
 */
export function readOperatorSignal(start: ToolCallStart, payload: JsonValue): SignalReading {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) {
    return { ok: false, problem: 'send an object with waitId and decision' };
  }
  const { waitId, subjectDigest, ...body } = payload as Record<string, JsonValue>;
  if (typeof waitId !== 'string')
    return { ok: false, problem: 'waitId is missing; it is shown in the details' };
  if (subjectDigest !== undefined && typeof subjectDigest !== 'string') {
    return { ok: false, problem: 'subjectDigest is a string' };
  }
  const reading = readHookResult(body, 'before_tool_call');
  if (!reading.ok) {
    return {
      ok: false,
      problem: reading.faults.map(({ pointer, detail }) => `${pointer}: ${detail}`).join('; '),
    };
  }
  const { decision, reason, rewrite } = reading.result;
  if (rewrite !== undefined && canonicalJson(rewrite.value).length > MAX_JSON_BYTES) {
    return { ok: false, problem: 'updatedInput is larger than 1 MiB' };
  }
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
        ...(rewrite !== undefined && {
          rewrite: inlineSubject({ point: 'before_tool_call', tool: start.tool, value: rewrite.value }),
        }),
      },
    },
  };
}
