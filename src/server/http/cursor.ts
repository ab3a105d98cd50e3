import type { z } from 'zod';
import { HttpProblem } from './problem';

/** Turns a place in one kind of list into an opaque text and back. */
export interface Cursor<Place> {
  readonly encode: (place: Place) => string;
  /** @throws HttpProblem invalid-cursor for a text that `encode` of this same list did not make */
  readonly decode: (text: string) => Place;
}

/**
 * A cursor says only where a page begins. It is not signed: whoever reads it must still ask what the key may see.
 * @param list names the list, so that a cursor of another list is refused
 * @param place shape of a small JSON value, usually a tuple of sort key and id
 */
export function cursorFor<S extends z.ZodType>(list: string, place: S): Cursor<z.output<S>> {
  const encode = (value: z.output<S>): string =>
    Buffer.from(JSON.stringify([list, value])).toString('base64url');
  return {
    encode,
    decode: (text) => {
      const decoded = decodeJson(text);
      if (!Array.isArray(decoded) || decoded.length !== 2 || decoded[0] !== list) throw invalidCursor();
      const checked = place.safeParse(decoded[1]);
      // One place has one text: anything that Buffer or JSON.parse was lenient about does not survive this.
      if (!checked.success || encode(checked.data) !== text) throw invalidCursor();
      return checked.data;
    },
  };
}

function decodeJson(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    throw invalidCursor();
  }
}

function invalidCursor(): HttpProblem {
  return new HttpProblem('invalid-cursor', { detail: 'the cursor is not one of this list' });
}
