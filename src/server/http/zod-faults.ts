import type { z } from 'zod';
import { escapePointerToken } from '../../domain/json-value';
import type { Fault, FaultPlace } from './fault';
import { allowedBySchema } from './zod-allowed';

type Issue = z.core.$ZodIssue;

/** A part of a request after its schema: the value, or everything that is wrong with it. */
export type Checked<T> = { readonly value: T; readonly faults?: never } | { readonly faults: Fault[] };

export function checkAgainst<S extends z.ZodType>(
  schema: S,
  value: unknown,
  place: FaultPlace,
): Checked<z.output<S>> {
  const result = schema.safeParse(value, { error: allowedBySchema });
  if (result.success) return { value: result.data };
  return { faults: result.error.issues.flatMap((issue) => faultsOf(issue, [], value, place)) };
}

function faultsOf(issue: Issue, above: readonly PropertyKey[], root: unknown, place: FaultPlace): Fault[] {
  const path = [...above, ...issue.path];
  const fault = (at: readonly PropertyKey[], detail: string): Fault => ({
    in: place,
    pointer: at.map((token) => `/${escapePointerToken(String(token))}`).join(''),
    detail,
    found: typeAt(root, at),
  });
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => fault([...path, key], issue.message));
    case 'invalid_union': {
      const nearest = nearestAlternative(issue.errors);
      return nearest === undefined
        ? [fault(path, issue.message)]
        : nearest.flatMap((inner) => faultsOf(inner, path, root, place));
    }
    case 'invalid_key':
      return [fault(path, `${issue.message}: ${issue.issues.map((inner) => inner.message).join('; ')}`)];
    default:
      return [fault(path, issue.message)];
  }
}

/** The alternative with the fewest faults is the one that was meant; when two are as near, nobody can tell. */
function nearestAlternative(alternatives: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const [first, second] = alternatives.toSorted((a, b) => a.length - b.length);
  return first !== undefined && (second === undefined || first.length < second.length) ? first : undefined;
}

function typeAt(root: unknown, path: readonly PropertyKey[]): string {
  let value = root;
  for (const token of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, token)) return 'nothing';
    value = Reflect.get(value, token);
  }
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
