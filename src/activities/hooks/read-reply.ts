import { readHookResult, type HookResult } from '../../domain/hook-result';
import { REWRITE_MEMBER, type Point } from '../../domain/point';
import { parseStrictJson } from '../../domain/strict-json';
import type { OutboundReply } from '../../outbound/outbound-http';

/** What one attempt came to. */
export type Attempt =
  { readonly kind: 'result'; readonly result: HookResult } | { readonly kind: 'later' } | AttemptFailure;

export interface AttemptFailure {
  readonly kind: 'failed';
  readonly outcome: 'timeout' | 'invalid' | 'unreachable';
  /** For programs. */
  readonly code: string;
  /** For people: never a word of what the hook sent. */
  readonly text: string;
  /** Whether another attempt may come to something else. */
  readonly retry: boolean;
  readonly retryAfterSeconds?: number;
}

/** Failures that no other attempt would mend. */
const FINAL = new Set(['url_refused', 'address_refused', 'answer_too_large', 'answer_encoded']);

/** "Not now" (RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4); so is every 5xx. */
const NOT_NOW = [408, 425, 429];

/** Judges a hook's answer strictly: 200 with a HookResult, 202, and nothing else. */
export function readReply(
  reply: OutboundReply,
  { point, mayAnswerLater }: { point: Point; mayAnswerLater: boolean },
): Attempt {
  if (reply.kind === 'failed') {
    const { outcome, code, text } = reply;
    return { kind: 'failed', outcome, code, text, retry: !FINAL.has(code) };
  }
  const { status, body, retryAfterSeconds } = reply;
  if (status === 200) return readAnswer(body, point);
  if (status === 202) {
    return mayAnswerLater
      ? { kind: 'later' }
      : invalid('answer_later_refused', 'It answered 202, but this service has no address for late answers.');
  }
  if (status >= 300 && status < 400)
    return invalid('redirect', 'It answered with a redirect, which is not followed.');
  const text = `It answered with status ${status}.`;
  if (status < 500 && !NOT_NOW.includes(status)) return invalid('http_status', text);
  return {
    kind: 'failed',
    outcome: 'unreachable',
    code: 'http_status',
    text,
    retry: true,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

/** Reads a HookResult strictly: the bytes are one JSON value, and it is nothing else. */
export function readAnswer(body: Uint8Array, point: Point): Extract<Attempt, { kind: 'result' | 'failed' }> {
  const parsed = parseStrictJson(body);
  if (parsed.kind !== 'value') return invalid('answer_not_json', 'Its answer is not one JSON value.');
  if (parsed.duplicates.length > 0) return invalid('answer_invalid', 'Its answer repeats a member name.');
  const reading = readHookResult(parsed.value, point, 'hook');
  if (reading.ok) return { kind: 'result', result: reading.result };
  return invalid('answer_invalid', `Its answer is not a HookResult: ${describe(reading.faults, point)}.`);
}

/** Member names of the answer are the hook's words; only those that a HookResult has are repeated. */
function describe(faults: readonly { pointer: string; detail: string }[], point: Point): string {
  const known = ['', '/decision', '/reason', `/${REWRITE_MEMBER[point]}`];
  const named = faults.filter(({ pointer }) => known.includes(pointer));
  const texts = named.map(({ pointer, detail }) =>
    pointer === '' ? detail : `${pointer.slice(1)}: ${detail}`,
  );
  if (named.length < faults.length) texts.push('it has a member, or a value within one, that is not allowed');
  return texts.join('; ');
}

export function invalid(code: string, text: string): AttemptFailure {
  return { kind: 'failed', outcome: 'invalid', code, text, retry: false };
}
