import { canonicalJson, subjectDigest } from './digest';
import type { JsonValue } from './json-value';
import type { Point } from './point';

/**
 * The value that a hook judges, as it travels through workflows and activities.
 *
 * Small values travel inline. Larger ones, and every output, stay in a blob of the call in the tenant's Redis and
 * travel as the blob's name. Workflow code only compares digests and passes subjects on; it never opens a blob.
 */
export type Subject = InlineSubject | BlobSubject;

interface Judged {
  /** SHA-256 over the canonical JSON of `{ point, tool, value }`. */
  readonly digest: string;
  /** Absent: nothing in the call's profile depends on the value. */
  readonly matching?: Matching;
}

/**
 * Which conditional rules of a call's pinned profile hold for one value. Whoever holds the value works this out when
 * it makes the subject (`match-rules.ts`), and it travels with the subject: workflows decide without opening values.
 * A subject without it belongs to a profile in which nothing depends on values.
 */
export interface Matching {
  /** Places of the hooks at the subject's point whose conditions do not hold. */
  readonly skips: readonly number[];
  /** Place of the permission that decides: the first deny that matches, else the first allow. */
  readonly permission?: number;
}

export interface InlineSubject extends Judged {
  readonly kind: 'inline';
  readonly value: JsonValue;
}

export interface BlobSubject extends Judged {
  readonly kind: 'blob';
  /** Name of the blob within its call. */
  readonly blob: string;
}

/** Largest value that travels inline, in bytes of its canonical JSON as UTF-8. */
export const MAX_INLINE_BYTES = 65_536;

export function inlineSubject(what: { point: Point; tool?: string; value: JsonValue }): InlineSubject {
  return { kind: 'inline', digest: subjectDigest(what), value: what.value };
}

export function fitsInline(value: JsonValue): boolean {
  const text = canonicalJson(value);
  return text.length <= MAX_INLINE_BYTES && new TextEncoder().encode(text).length <= MAX_INLINE_BYTES;
}
