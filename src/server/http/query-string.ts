import type { z } from 'zod';
import type { Fault } from './fault';

/** Names to texts; a name that was given several times has all its texts in order. */
type QueryTexts = Record<string, string | string[]>;

/**
 * Reads `a=1&b=2` strictly: percent-encoding must be valid UTF-8, where Node's parser would put U+FFFD.
 * A parameter whose schema is an array always gets an array.
 */
export function readQuery(search: string, shape: z.core.$ZodShape): { texts: QueryTexts; faults: Fault[] } {
  // Without a prototype, `__proto__` is a name like any other.
  const texts = Object.create(null) as QueryTexts;
  const faults: Fault[] = [];
  for (const pair of search.split('&').filter((text) => text !== '')) {
    const [name, value] = splitPair(pair).map(decode);
    if (name === undefined || value === undefined) {
      faults.push({ in: 'query', pointer: '', detail: 'the percent-encoding of a parameter is not UTF-8' });
      continue;
    }
    const before = texts[name];
    if (before === undefined)
      texts[name] = Object.hasOwn(shape, name) && isList(shape[name]) ? [value] : value;
    else texts[name] = [...(Array.isArray(before) ? before : [before]), value];
  }
  return { texts, faults };
}

function splitPair(pair: string): [string, string] {
  const equals = pair.indexOf('=');
  return equals === -1 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

function isList(schema: z.core.$ZodType | undefined): boolean {
  const definition = schema?._zod.def;
  if (definition === undefined) return false;
  if ('innerType' in definition) return isList(definition.innerType as z.core.$ZodType);
  return definition.type === 'array';
}
