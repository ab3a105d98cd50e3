/** A value that JSON can carry and RFC 8785 can canonicalise without loss. */
export type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

export type JsonObject = Readonly<Record<string, JsonValue>>;

/** Deepest nesting of arrays and objects that is kept; a scalar has depth 0. */
export const MAX_JSON_DEPTH = 128;

/** Largest value that is kept, in bytes of its JSON text as UTF-8. */
export const MAX_JSON_BYTES = 1_048_576;

export interface UnfaithfulValue {
  /** RFC 6901 pointer to the value, or to the member whose name is at fault. */
  readonly pointer: string;
  readonly problem: string;
}

/**
 * Finds the first part of a parsed JSON document that could not be stored, sent and hashed without change:
 * lone surrogates, integers beyond 2^53-1, non-finite numbers, nesting over `maxDepth`.
 *
 * The walk keeps its own stack, so a hostile depth cannot exhaust the call stack.
 */
export function findUnfaithful(root: unknown, maxDepth = MAX_JSON_DEPTH): UnfaithfulValue | undefined {
  const pending: { value: unknown; pointer: string; depth: number }[] = [
    { value: root, pointer: '', depth: 0 },
  ];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, pointer, depth } = next;
    if (typeof value !== 'object' || value === null) {
      const problem = scalarProblem(value);
      if (problem !== undefined) return { pointer, problem };
      continue;
    }
    if (depth >= maxDepth) {
      return { pointer, problem: `nesting is deeper than ${maxDepth} levels` };
    }
    for (const [key, member] of Object.entries(value)) {
      const memberPointer = `${pointer}/${escapePointerToken(key)}`;
      if (!key.isWellFormed()) {
        return { pointer: memberPointer.toWellFormed(), problem: 'the member name holds a lone surrogate' };
      }
      pending.push({ value: member, pointer: memberPointer, depth: depth + 1 });
    }
  }
  return undefined;
}

function scalarProblem(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? undefined : 'the string holds a lone surrogate';
    case 'number':
      if (!Number.isFinite(value)) return 'the number is not finite';
      return Number.isInteger(value) && !Number.isSafeInteger(value)
        ? 'the integer is beyond 2^53-1; send it as a string'
        : undefined;
    case 'boolean':
      return undefined;
    default:
      return value === null ? undefined : 'this is not a JSON value';
  }
}

/** Size of a value in bytes of its JSON text as UTF-8. */
export function jsonBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

/** One reference token of an RFC 6901 pointer. */
export function escapePointerToken(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}
