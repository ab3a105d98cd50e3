import type { JsonValue } from './json-value';

/** Longest pointer, in UTF-16 code units. */
export const MAX_FIELD_LENGTH = 1_024;

/** The roots that are fields by themselves: nothing stands below them. */
const WHOLE_FIELDS = ['/tool', '/text', '/profile/id'] as const;

/** The roots whose parts are fields too. */
const OPEN_FIELDS = ['/input', '/output', '/error', '/actor', '/thread/metadata'] as const;

/** Says what is wrong with a condition's field, or nothing. */
export function fieldFault(field: string): string | undefined {
  if (field.length > MAX_FIELD_LENGTH) return `a field has at most ${MAX_FIELD_LENGTH} characters`;
  if (!field.isWellFormed()) return 'the field holds a lone surrogate';
  if (!/^(?:\/(?:[^~/]|~[01])*)+$/u.test(field)) {
    return 'a field is an RFC 6901 JSON Pointer: each name after a `/`, with `~0` for `~` and `~1` for `/`';
  }
  const whole = WHOLE_FIELDS.find((root) => field.startsWith(`${root}/`));
  if (whole !== undefined) return `${whole} is a string; nothing is below it`;
  if (WHOLE_FIELDS.some((root) => root === field) || OPEN_FIELDS.some((root) => isAtOrBelow(field, root))) {
    return undefined;
  }
  return `a field is one of ${WHOLE_FIELDS.join(', ')}, or is or begins with one of ${OPEN_FIELDS.join(', ')}`;
}

/** Whether the field is the root itself or a part of it, name by name: `/inputs` is not below `/input`. */
export function isAtOrBelow(field: string, root: string): boolean {
  return field === root || field.startsWith(`${root}/`);
}

/**
 * The value at an RFC 6901 pointer, or nothing. Only own members are found, and of an array only elements: an index is
 * written without sign or leading zero. `null` is a value like any other.
 */
export function lookUp(field: string, facts: object): { readonly value: JsonValue } | undefined {
  let found: unknown = facts;
  for (const token of field.split('/').slice(1)) {
    if (typeof found !== 'object' || found === null) return undefined;
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(found) && !/^(?:0|[1-9]\d*)$/.test(name)) return undefined;
    if (!Object.hasOwn(found, name)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[name];
  }
  // Facts hold JSON; a member that is there without a value is not there.
  return found === undefined || found === facts ? undefined : { value: found as JsonValue };
}
