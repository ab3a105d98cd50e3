import type { Executed } from '../domain/call';
import {
  findUnfaithful,
  jsonBytes,
  MAX_JSON_BYTES,
  type JsonObject,
  type JsonValue,
} from '../domain/json-value';

/** What came of a tool that was run here. */
export type ToolResult =
  | { readonly result: 'output'; readonly value: JsonValue; readonly executed: true }
  | { readonly result: 'error'; readonly value: JsonObject; readonly executed: Executed };

/** The tool is known to have run, not to have run, or neither. `message` is for models and people. */
export interface ToolFault {
  /** For programs. */
  readonly code: string;
  readonly message: string;
  readonly executed: Executed;
  /** What the tool itself said of it. */
  readonly more?: JsonObject;
}

export function faultResult({ code, message, executed, more = {} }: ToolFault): ToolResult {
  return { result: 'error', executed, value: { code, message, executed, ...more } };
}

/** Nobody knows whether the tool has run: it is not run again, and whoever asked for it must look. */
export function unknownOutcome(why: string): ToolResult {
  return faultResult({
    code: 'outcome_unknown',
    message: `${why} The tool may have run. Do not repeat the call before you know.`,
    executed: 'unknown',
  });
}

/**
 * A value of a tool that has run, kept whole or not at all: a part of it would be another value.
 * @param value parsed JSON
 */
export function keptWhole(value: unknown, as: (value: JsonValue) => ToolResult): ToolResult {
  const unfaithful = findUnfaithful(value);
  if (unfaithful !== undefined) {
    return faultResult({
      code: 'result_unfaithful',
      message: `The tool has run, but its result cannot be kept as it is: at "${unfaithful.pointer}" ${unfaithful.problem}.`,
      executed: true,
    });
  }
  // Checked above: what findUnfaithful accepts is JSON.
  const kept = as(value as JsonValue);
  return jsonBytes(kept.value) <= MAX_JSON_BYTES
    ? kept
    : faultResult({
        code: 'result_too_large',
        message: `The tool has run, but its result is larger than ${MAX_JSON_BYTES} bytes of JSON, and was not kept.`,
        executed: true,
      });
}
