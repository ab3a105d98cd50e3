import { HttpProblem } from './problem';

/** The strong ETag of a version: `"7"` (RFC 9110 §8.8.3). */
export function etagOf(version: number): string {
  return `"${version}"`;
}

/** Versions that the caller accepts, or any that exists. */
export type ExpectedVersions = '*' | readonly number[];

const ENTITY_TAGS = /^[ \t]*(?:W\/)?"[^"]*"[ \t]*(?:,[ \t]*(?:W\/)?"[^"]*"[ \t]*)*$/;
const ENTITY_TAG = /(W\/)?"([^"]*)"/g;

/**
 * Reads If-Match, which compares strongly: weak tags and tags of other makers match nothing (RFC 9110 §13.1.1).
 * @throws HttpProblem precondition-required when absent, invalid-parameters when it is not a list of tags
 */
export function requireIfMatch(header: string | undefined): ExpectedVersions {
  if (header === undefined) {
    throw new HttpProblem('precondition-required', { detail: 'send If-Match with the ETag you read' });
  }
  if (header.trim() === '*') return '*';
  if (!ENTITY_TAGS.test(header)) {
    throw new HttpProblem('invalid-parameters', {
      extensions: {
        errors: [{ in: 'header', pointer: '/If-Match', detail: 'must be * or a list of quoted ETags' }],
      },
    });
  }
  return entityTags(header).flatMap(({ weak, tag }) =>
    !weak && /^(?:0|[1-9]\d{0,14})$/.test(tag) ? [Number(tag)] : [],
  );
}

export function matchesVersion(expected: ExpectedVersions, version: number): boolean {
  return expected === '*' || expected.includes(version);
}

/** @throws HttpProblem precondition-failed, with the present ETag */
export function assertVersion(expected: ExpectedVersions, version: number): void {
  if (matchesVersion(expected, version)) return;
  throw new HttpProblem('precondition-failed', { headers: { ETag: etagOf(version) } });
}

/** Whether If-None-Match names this tag; the comparison is weak (RFC 9110 §13.1.2). */
export function noneMatchHolds(header: string, etag: string): boolean {
  if (header.trim() === '*') return true;
  return entityTags(header).some(({ tag }) => `"${tag}"` === etag.replace(/^W\//, ''));
}

function entityTags(header: string): { weak: boolean; tag: string }[] {
  return [...header.matchAll(ENTITY_TAG)].map(([, weak, tag]) => ({
    weak: weak !== undefined,
    tag: tag ?? '',
  }));
}
