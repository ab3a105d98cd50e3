import { escapePointerToken } from '../../domain/json-value';

/**
 * Pointers of `__proto__` members that a schema left out. Zod's loose objects and records skip that name without
 * a fault, and a member that was sent must reach the handler or be refused. Values that a schema passes by
 * reference (`z.unknown()`, `z.custom()`) keep it.
 */
export function lostMembers(sent: unknown, kept: unknown): string[] {
  const lost: string[] = [];
  const pending = [{ sent, kept, pointer: '' }];
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    if (pair.sent === pair.kept || !isObject(pair.sent) || !isObject(pair.kept)) continue;
    for (const key of Object.keys(pair.sent)) {
      const pointer = `${pair.pointer}/${escapePointerToken(key)}`;
      if (Object.hasOwn(pair.kept, key))
        pending.push({ sent: pair.sent[key], kept: pair.kept[key], pointer });
      else if (key === '__proto__') lost.push(pointer);
    }
  }
  return lost;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
