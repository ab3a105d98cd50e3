import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils';
import serialize from 'canonicalize';
import type { JsonValue } from './json-value';
import type { Point } from './point';

// @noble/hashes instead of node:crypto, because workflows compute digests too and their sandbox has no Node modules.

/** SHA-256 of the text as UTF-8, in lower-case hex. */
export function sha256Hex(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}

/** RFC 8785 canonical JSON. The value must have passed `findUnfaithful`. */
export function canonicalJson(value: JsonValue): string {
  const text = serialize(value);
  if (text === undefined) throw new TypeError('only JSON values have a canonical form');
  return text;
}

/**
 * What an approval is given for: SHA-256 over the canonical JSON of `{ point, tool, value }`.
 * A point without a tool is hashed without that member.
 */
export function subjectDigest(subject: { point: Point; tool?: string; value: JsonValue }): string {
  const { point, tool, value } = subject;
  return sha256Hex(canonicalJson(tool === undefined ? { point, value } : { point, tool, value }));
}
