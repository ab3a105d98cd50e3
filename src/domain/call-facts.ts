import type { ConditionFacts } from './condition';
import type { JsonValue } from './json-value';
import type { ToolCallStart } from './call';

/** What is known of a call besides the value that is judged. */
export interface CallFacts {
  readonly tool: string;
  readonly actor?: JsonValue;
  readonly thread: { readonly metadata: JsonValue };
  readonly profile: { readonly id: string };
}

/** The facts that conditions look at, with the value at its place: the input before, what the tool gave after. */
export function factsWith(call: CallFacts, judged: JudgedValue): ConditionFacts {
  return judged.kind === 'input'
    ? { ...call, input: judged.value }
    : { ...call, input: judged.input, [judged.kind]: judged.value };
}

export type JudgedValue =
  | { readonly kind: 'input'; readonly value: JsonValue }
  | { readonly kind: 'output' | 'error'; readonly value: JsonValue; readonly input: JsonValue };

/** @param metadata of the call's thread */
export function callFacts(
  { tool, actor, profile }: Pick<ToolCallStart, 'tool' | 'actor' | 'profile'>,
  metadata: JsonValue,
): CallFacts {
  return { tool, ...(actor !== undefined && { actor }), thread: { metadata }, profile: { id: profile.id } };
}
