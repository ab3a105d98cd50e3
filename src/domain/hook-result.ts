import { escapePointerToken, findUnfaithful, jsonBytes, MAX_JSON_BYTES, type JsonValue } from './json-value';
import { REWRITE_MEMBER, type Point } from './point';

/** Longest reason, in bytes of UTF-8. */
export const MAX_REASON_BYTES = 4_096;

/** `ask`: park for a person; only hooks that are not a person themselves may say so. */
export type HookDecisionWord = 'allow' | 'deny' | 'defer' | 'ask';

export interface HookResult {
  readonly decision: HookDecisionWord;
  readonly reason?: string;
  /** The whole new value. The member is absent when there is no rewrite; `null` is a rewrite to null. */
  readonly rewrite?: { readonly value: JsonValue };
}

export type HookResultReading =
  | { readonly ok: true; readonly result: HookResult }
  | { readonly ok: false; readonly faults: readonly { pointer: string; detail: string }[] };

const PERSONS_DECISIONS = ['allow', 'deny', 'defer'] as const;
const HOOKS_DECISIONS = [...PERSONS_DECISIONS, 'ask'] as const;

/**
 * Reads a HookResult strictly: any other key, a missing decision, another case or a rewrite of the wrong kind for the
 * point is invalid, never ignored. Written without zod because workflows read the answers that arrive as signals.
 */
export function readHookResult(
  body: unknown,
  point: Point,
  from: 'person' | 'hook' = 'person',
): HookResultReading {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return invalid('', 'a HookResult is a JSON object with a decision');
  }
  const members = new Map<string, unknown>(Object.entries(body));
  const rewriteMember = REWRITE_MEMBER[point];
  const faults: { pointer: string; detail: string }[] = [];
  for (const key of members.keys()) {
    if (key === 'decision' || key === 'reason' || key === rewriteMember) continue;
    faults.push({
      pointer: `/${escapePointerToken(key).toWellFormed()}`,
      detail: `unknown member; at ${point} it is decision, reason, ${rewriteMember}`,
    });
  }
  const decisions: readonly HookDecisionWord[] = from === 'hook' ? HOOKS_DECISIONS : PERSONS_DECISIONS;
  const decision = decisions.find((known) => known === members.get('decision'));
  if (decision === undefined) {
    faults.push({ pointer: '/decision', detail: `one of ${decisions.join(', ')}` });
  }
  const reason = members.get('reason');
  if (members.has('reason') && !isReason(reason)) {
    faults.push({ pointer: '/reason', detail: `well-formed text of at most ${MAX_REASON_BYTES} bytes` });
  }
  faults.push(...rewriteFaults(members, rewriteMember, decision));
  if (faults.length > 0 || decision === undefined) return { ok: false, faults };
  return {
    ok: true,
    result: {
      decision,
      ...(isReason(reason) && { reason }),
      // Checked above: what findUnfaithful accepts is a JSON value.
      ...(members.has(rewriteMember) && { rewrite: { value: members.get(rewriteMember) as JsonValue } }),
    },
  };
}

function rewriteFaults(
  members: ReadonlyMap<string, unknown>,
  member: string,
  decision: HookResult['decision'] | undefined,
): { pointer: string; detail: string }[] {
  if (!members.has(member)) return [];
  if (decision === 'deny') return [{ pointer: `/${member}`, detail: 'a deny must not carry a rewrite' }];
  const value = members.get(member);
  if (member === 'updatedText' && typeof value !== 'string') {
    return [{ pointer: `/${member}`, detail: 'the rewritten text is a string' }];
  }
  const unfaithful = findUnfaithful(value);
  if (unfaithful !== undefined) {
    return [{ pointer: `/${member}${unfaithful.pointer}`, detail: unfaithful.problem }];
  }
  // Measured as it will be kept: a number may be longer than the hook wrote it.
  if (jsonBytes(value) <= MAX_JSON_BYTES) return [];
  return [{ pointer: `/${member}`, detail: `the value is larger than ${MAX_JSON_BYTES} bytes of JSON` }];
}

function isReason(reason: unknown): reason is string {
  return (
    typeof reason === 'string' &&
    reason.isWellFormed() &&
    new TextEncoder().encode(reason).length <= MAX_REASON_BYTES
  );
}

function invalid(pointer: string, detail: string): HookResultReading {
  return { ok: false, faults: [{ pointer, detail }] };
}
