import { duplicateMembers } from '../domain/json-scan';
import { JsonTokens } from '../domain/json-tokens';
import { findUnfaithful, jsonBytes, MAX_JSON_BYTES, type JsonValue } from '../domain/json-value';

/** A value that comes with an event, or why it cannot be judged as it is. */
export type FaithfulReading =
  { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly problem: string };

/**
 * A prompt or an input that somebody is to judge must be what the other side will run with. The sender's own reader keeps
 * the last of two equal names, and takes names of other case for equal; readers of tools differ. So neither may be there.
 * @param raw the JSON text of the value as it was sent
 */
export function readFaithful(raw: string): FaithfulReading {
  const [repeated] = duplicateMembers(raw);
  if (repeated !== undefined) return refused('a member name is repeated', repeated);
  const value: unknown = JSON.parse(raw);
  const unfaithful = findUnfaithful(value);
  if (unfaithful !== undefined) return refused(unfaithful.problem, unfaithful.pointer);
  // Checked above: what findUnfaithful accepts is JSON.
  const kept = value as JsonValue;
  if (jsonBytes(kept) > MAX_JSON_BYTES) return refused(`it is larger than ${MAX_JSON_BYTES} bytes`, '');
  const alike = foldedAlike(kept, '');
  return alike === undefined
    ? { ok: true, value: kept }
    : refused('two member names differ only in their case', alike);
}

function foldedAlike(value: JsonValue, pointer: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const seen = new Set<string>();
  for (const [name, member] of Object.entries(value)) {
    const at = `${pointer}/${name}`;
    const folded = fold(name);
    if (!Array.isArray(value) && seen.has(folded)) return at;
    seen.add(folded);
    const inner = foldedAlike(member, at);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** Simple case folding, with the two letters that fold into ASCII (U+017F and U+212A). */
function fold(name: string): string {
  return name.toLowerCase().replaceAll('\u017f', 's').replaceAll('\u212a', 'k');
}

/**
 * The JSON text of `/data/<name>` as it was sent, or nothing. Of repeated names the last counts, as for the sender.
 * @param text one JSON value, an object
 */
export function rawDataMember(text: string, name: string): string | undefined {
  const data = rawMember(text, 'data');
  return data === undefined ? undefined : rawMember(data, name);
}

function rawMember(text: string, wanted: string): string | undefined {
  const tokens = new JsonTokens(text);
  let found: string | undefined;
  if (tokens.peek() !== '{') return undefined;
  tokens.skip();
  while (tokens.peek() === '"') {
    const name = tokens.string();
    tokens.peek();
    tokens.skip();
    tokens.peek();
    const start = tokens.position;
    skipValue(tokens);
    if (name === wanted) found = text.slice(start, tokens.position);
    if (tokens.peek() === ',') {
      tokens.skip();
      tokens.peek();
    }
  }
  return found;
}

/** One value, without the call stack: the nesting is the sender's. */
function skipValue(tokens: JsonTokens): void {
  let depth = 0;
  do {
    const next = tokens.peek();
    if (next === '{' || next === '[') {
      depth += 1;
      tokens.skip();
    } else if (next === '}' || next === ']') {
      depth -= 1;
      tokens.skip();
    } else if (next === ',' || next === ':') tokens.skip();
    else if (next === '"') tokens.string();
    else tokens.scalar();
  } while (depth > 0);
}

function refused(problem: string, pointer: string): FaithfulReading {
  const where = pointer === '' ? '' : ` at ${pointer.toWellFormed().slice(0, 256)}`;
  return { ok: false, problem: `${problem}${where}` };
}
