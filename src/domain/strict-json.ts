import { duplicateMembers } from './json-scan';
import { JsonSyntaxFault } from './json-tokens';

export type StrictJson =
  | { readonly kind: 'value'; readonly value: unknown; readonly duplicates: readonly string[] }
  | { readonly kind: 'not_utf8' }
  | { readonly kind: 'not_json'; readonly position: number; readonly expected: string };

/**
 * The one JSON value that the bytes are, with the pointers of repeated members, of which `JSON.parse` keeps the last
 * without a word. Members named `__proto__` or `constructor` come out as own properties.
 */
export function parseStrictJson(bytes: Uint8Array): StrictJson {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { kind: 'not_utf8' };
  }
  try {
    return { kind: 'value', duplicates: duplicateMembers(text), value: JSON.parse(text) as unknown };
  } catch (error) {
    if (!(error instanceof JsonSyntaxFault)) throw error;
    return { kind: 'not_json', position: error.position, expected: error.expected };
  }
}
