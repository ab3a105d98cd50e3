import { z } from 'zod';

/** A longer header is ignored whole; matching stays cheap. */
const MAX_HEADER_CHARACTERS = 1024;

/** Longest `wait`, in seconds; a larger one is cut to it. */
const MAX_WAIT_SECONDS = 60;

/** What the caller would like (RFC 7240). None of it is binding: what is malformed or unknown is ignored. */
export interface Preferences {
  /** 0 to 60; absent when not given or not a whole number of seconds. */
  readonly waitSeconds?: number;
  /** The value of a preference by its lower-case name, `''` when it has none, such as `get('pending') === 'deny'`. */
  readonly get: (name: string) => string | undefined;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = '"(?:[^"\\\\]|\\\\.)*"';
const VALUE = `[ \\t]*=[ \\t]*(${TOKEN}|${QUOTED})`;
/** One preference with its parameters, up to the comma or the end; the name and the value are captured. */
const PREFERENCE = new RegExp(
  `^[ \\t]*(${TOKEN})(?:${VALUE})?(?:[ \\t]*;[^,"]*(?:${QUOTED}[^,"]*)*)?[ \\t]*$`,
);
const LIST_MEMBER = new RegExp(`(?:[^,"]|${QUOTED})+`, 'g');

/** The first of several equal names counts (RFC 7240 §2). */
export function parsePrefer(header: string | undefined): Preferences {
  const preferences = new Map<string, string>();
  const read = header === undefined || header.length > MAX_HEADER_CHARACTERS ? '' : header;
  for (const [member] of read.matchAll(LIST_MEMBER)) {
    const [, name, value] = PREFERENCE.exec(member) ?? [];
    if (name === undefined || preferences.has(name.toLowerCase())) continue;
    preferences.set(name.toLowerCase(), unquote(value ?? ''));
  }
  const wait = preferences.get('wait') ?? '';
  return {
    ...(/^\d+$/.test(wait) ? { waitSeconds: Math.min(Number(wait), MAX_WAIT_SECONDS) } : {}),
    get: (name) => preferences.get(name),
  };
}

function unquote(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value;
}

/** Preference-Applied for what was honoured: `preferenceApplied({ wait: 5, pending: 'deny' })`. */
export function preferenceApplied(applied: Readonly<Record<string, string | number>>): string {
  return Object.entries(applied)
    .map(([name, value]) => (value === '' ? name : `${name}=${value}`))
    .join(', ');
}

/** For a route's `headers`, under the name `Prefer`. */
export const preferHeader = z
  .string()
  .optional()
  .transform(parsePrefer)
  .meta({
    description: `\`wait=N\`: answer within N seconds, 0 to ${MAX_WAIT_SECONDS} (RFC 7240).`,
    type: 'string',
  });
