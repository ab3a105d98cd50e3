import type { ConditionFacts } from './condition';
import type { JsonValue } from './json-value';

/** What is known of a call besides the value that is judged. */
export interface CallFacts {
  readonly tool?: string;
  readonly actor?: JsonValue;
  readonly thread: { readonly metadata: JsonValue };
  readonly profile: { readonly id: string };
}

/** The facts that conditions look at, with the value at its place. */
export function factsWith(call: CallFacts, judged: JudgedValue): ConditionFacts {
  return { ...call, ...membersOf(judged) };
}

/** What is judged: the input before a tool runs, what it gave after, with the input that it ran with, or a text. */
export type JudgedValue =
  | { readonly kind: 'input' | 'text'; readonly value: JsonValue }
  | { readonly kind: 'output' | 'error'; readonly value: JsonValue; readonly input: JsonValue };

/** The values as hooks and conditions know them. */
export function membersOf(judged: JudgedValue): Readonly<Record<string, JsonValue>> {
  const { kind, value } = judged;
  return 'input' in judged ? { input: judged.input, [kind]: value } : { [kind]: value };
}

/** The parts of a start that are facts. */
export interface CallIdentity {
  readonly tool?: string;
  readonly actor?: JsonValue;
  readonly profile: { readonly id: string };
}

/** @param metadata of the call's thread */
export function callFacts(start: CallIdentity, metadata: JsonValue): CallFacts {
  const { actor, profile } = start;
  return {
    ...(start.tool !== undefined && { tool: start.tool }),
    ...(actor !== undefined && { actor }),
    thread: { metadata },
    profile: { id: profile.id },
  };
}
