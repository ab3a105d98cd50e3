import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import type { Answer } from './client';

const SHOWN_CHARACTERS = 600;

/** Something came out otherwise than it should. */
export class UnexpectedResult extends Error {
  override readonly name = 'UnexpectedResult';

  constructor(
    readonly expected: string,
    readonly found: string,
  ) {
    super(`expected ${expected}, found ${found}`);
  }
}

/** The body of an answer that has this status and shape. */
export function expectAnswer<Schema extends z.ZodType>(
  answer: Answer,
  status: number,
  schema: Schema,
): z.output<Schema> {
  const found = `${answer.status} ${answer.text.slice(0, SHOWN_CHARACTERS)}`;
  if (answer.status !== status) throw new UnexpectedResult(`${answer.request} to answer ${status}`, found);
  const parsed = schema.safeParse(jsonOf(answer.text));
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  throw new UnexpectedResult(`the documented body from ${answer.request}`, `${found} (${issues})`);
}

export function expectEqual(what: string, found: unknown, expected: unknown): void {
  if (isDeepStrictEqual(found, expected)) return;
  throw new UnexpectedResult(`${what} to be ${JSON.stringify(expected)}`, JSON.stringify(found) ?? 'nothing');
}

/** The value, which must be there. */
export function expectFound<Value>(what: string, value: Value | undefined): Value {
  if (value === undefined) throw new UnexpectedResult(what, 'nothing of the kind');
  return value;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
