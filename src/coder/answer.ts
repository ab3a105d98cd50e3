import { createHash } from 'node:crypto';
import { findUnfaithful, type JsonValue } from '../domain/json-value';
import { parseStrictJson } from '../domain/strict-json';
import { isDecidable, type EventType } from './event';
import { signToken, type VerifiedToken } from './token';

/** What an event is answered. Without `permission` there is no objection: an allow always rewrites. */
export interface EventAnswer {
  readonly permission?: Permission;
  /** For the model. */
  readonly model_context?: string;
  /** For the user. */
  readonly user_message?: string;
}

export type Permission =
  | { readonly decision: 'deny'; readonly reason?: string }
  /** For a prompt exactly `{ prompt }`; for a tool its whole input, which is not null. */
  | { readonly decision: 'allow'; readonly input_override: JsonValue; readonly reason?: string };

/** What the sender takes, in bytes of UTF-8; beyond any of these it fails the whole dispatch. */
export const LIMITS = {
  modelContext: 16_384,
  userMessage: 16_384,
  reason: 4_096,
  inputOverride: 262_144,
  body: 1_048_576,
} as const;

/** Deepest nesting of an answer. */
const MAX_DEPTH = 128;

/** No objection. */
export const NO_OBJECTION: EventAnswer = {};

export type AnswerReading =
  { readonly ok: true; readonly answer: EventAnswer } | { readonly ok: false; readonly problem: string };

/**
 * The bytes of an answer, which keep to every limit: texts are cut on the boundary of a character, and what cannot be cut
 * becomes a denial.
 */
export function encodeAnswer(type: EventType, answer: EventAnswer): Buffer {
  const { permission, model_context: context, user_message: message } = answer;
  const fitting: EventAnswer = {
    ...(permission !== undefined && { permission: fittingPermission(permission) }),
    ...(context !== undefined && context !== '' && { model_context: cutUtf8(context, LIMITS.modelContext) }),
    ...(message !== undefined && message !== '' && { user_message: cutUtf8(message, LIMITS.userMessage) }),
  };
  const bytes = Buffer.from(JSON.stringify(fitting));
  const checked = readAnswer(type, bytes);
  if (!checked.ok) throw new Error(`an answer that the sender would not take: ${checked.problem}`);
  return bytes;
}

function fittingPermission(permission: Permission): Permission {
  const reason = permission.reason === undefined ? {} : { reason: cutUtf8(permission.reason, LIMITS.reason) };
  if (permission.decision === 'deny') return { decision: 'deny', ...reason };
  const { input_override } = permission;
  return byteLength(JSON.stringify(input_override)) <= LIMITS.inputOverride
    ? { decision: 'allow', input_override, ...reason }
    : { decision: 'deny', reason: `The rewritten input is larger than ${LIMITS.inputOverride} bytes.` };
}

/** Reads an answer as strictly as the sender does, so that one which it would fail over never reaches it. */
export function readAnswer(type: EventType, bytes: Uint8Array): AnswerReading {
  if (bytes.length > LIMITS.body) return refused('the body is too large');
  if (isBlank(bytes)) return { ok: true, answer: NO_OBJECTION };
  const parsed = parseStrictJson(bytes);
  if (parsed.kind !== 'value') return refused('the body is not one JSON value');
  if (parsed.duplicates.length > 0) return refused('a member name is repeated');
  const { value } = parsed;
  // A decoder would take a byte order mark away.
  if (bytes[0] === 0xef) return refused('the body begins with a byte order mark');
  if (!isObject(value)) return refused('the body is not an object');
  const unfaithful = findUnfaithful(value, MAX_DEPTH);
  if (unfaithful?.problem.startsWith('nesting') === true) return refused('a value is nested too deep');
  for (const name of Object.keys(value)) {
    if (!['permission', 'model_context', 'user_message'].includes(name)) return refused('an unknown member');
  }
  const { permission, model_context: context, user_message: message } = value;
  const fault =
    textFault(context, LIMITS.modelContext) ??
    textFault(message, LIMITS.userMessage) ??
    permissionFault(type, permission);
  // Every member has been checked; null stands for an absent one.
  return fault === undefined ? { ok: true, answer: withoutNulls(value) } : refused(fault);
}

function permissionFault(type: EventType, permission: unknown): string | undefined {
  if (permission === undefined || permission === null) return undefined;
  if (!isDecidable(type)) return 'a permission for an event that cannot be decided';
  if (!isObject(permission)) return 'permission is not an object';
  for (const name of Object.keys(permission)) {
    if (!['decision', 'reason', 'input_override'].includes(name)) return 'an unknown member of permission';
  }
  const { decision, reason, input_override: override = null } = permission;
  const fault = textFault(reason, LIMITS.reason);
  if (fault !== undefined) return fault;
  if (decision === 'deny') return override === null ? undefined : 'a denial with an input_override';
  if (decision !== 'allow') return 'decision is neither allow nor deny';
  if (override === null) return 'allow without an input_override';
  if (byteLength(JSON.stringify(override)) > LIMITS.inputOverride) return 'input_override is too large';
  return type === 'user_prompt_submit' && !isPromptOverride(override)
    ? 'the input_override of a prompt is exactly { prompt }'
    : undefined;
}

function isPromptOverride(override: unknown): boolean {
  return (
    isObject(override) && Object.keys(override).join() === 'prompt' && typeof override['prompt'] === 'string'
  );
}

function textFault(text: unknown, limit: number): string | undefined {
  if (text === undefined || text === null) return undefined;
  if (typeof text !== 'string') return 'a text is no string';
  return byteLength(text) > limit ? 'a text is too long' : undefined;
}

/**
 * The signature of an answer, for the header `Coder-Hook-Signature`: the request's own claims, verbatim, over the exact
 * bytes that are sent. Made last, and only for a request that was verified whole.
 * @param now seconds since the epoch
 */
export function signAnswer(
  { claims, secret }: VerifiedToken,
  bytes: Uint8Array,
  now: number,
): Promise<string> {
  const { iss, sub, aud, jti, type } = claims;
  const iat = Math.floor(now);
  const body_sha256 = createHash('sha256').update(bytes).digest('hex');
  return signToken({ iss, sub, aud, jti, type, body_sha256, iat, nbf: iat - 30, exp: iat + 120 }, secret);
}

/** At most so many bytes of UTF-8, without a character cut in half. */
export function cutUtf8(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.toWellFormed());
  if (bytes.length <= maxBytes) return text.toWellFormed();
  let end = maxBytes;
  // Bytes 10xxxxxx continue a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString();
}

function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withoutNulls(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      if (member === null) return [];
      return [[name, name === 'permission' && isObject(member) ? withoutNulls(member) : member]];
    }),
  );
}

function refused(problem: string): AnswerReading {
  return { ok: false, problem };
}
