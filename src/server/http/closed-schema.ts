import type { z } from 'zod';

/**
 * Refuses, when the routes are made, a body schema that would drop unknown members without a word: plain
 * `z.object`. `z.strictObject` refuses them and `z.looseObject` keeps them; both are said on purpose.
 */
export function assertDropsNothing(schema: z.ZodType, operationId: string): void {
  const seen = new Set<unknown>();
  const pending: unknown[] = [schema];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const definition = definitionOf(next);
    if (definition === undefined || seen.has(next)) continue;
    seen.add(next);
    if (definition.type === 'object' && definition.catchall === undefined) {
      const members = Object.keys(definition.shape ?? {}).join(', ');
      throw new Error(
        `${operationId}: the body schema with members {${members}} must be a strict or loose object`,
      );
    }
    pending.push(...childrenOf(definition));
  }
}

interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly catchall?: unknown;
  readonly getter?: () => unknown;
}

function definitionOf(candidate: unknown): Definition | undefined {
  if (typeof candidate !== 'object' || candidate === null || !('_zod' in candidate)) return undefined;
  return (candidate as z.ZodType)._zod.def;
}

/** Schemas stand in a definition as members, in arrays, in `shape`, or behind the getter of a lazy schema. */
function childrenOf(definition: Definition): unknown[] {
  const members: unknown[] = Object.values(definition);
  return [
    ...members.flatMap((member) => (Array.isArray(member) ? (member as unknown[]) : [member])),
    ...Object.values(definition.shape ?? {}),
    ...(definition.type === 'lazy' && definition.getter !== undefined ? [definition.getter()] : []),
  ];
}
