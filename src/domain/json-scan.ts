import { escapePointerToken } from './json-value';
import { JsonTokens } from './json-tokens';

/**
 * `JSON.parse` keeps the last of two equal member names without a word, and its messages quote the text they
 * stumble over. This scan finds both faults first: it accepts exactly the texts `JSON.parse` accepts, and names
 * every repeated member by its RFC 6901 pointer.
 */

/** An array or object that is still open. Names are compared after unescaping: `"\u0061"` repeats `"a"`. */
type OpenValue =
  | { readonly kind: 'array'; index: number }
  | { readonly kind: 'object'; readonly names: Set<string>; name: string };

const MAX_DUPLICATES = 100;

/** @returns pointers of repeated members, at most 100. @throws JsonSyntaxFault unless the text is one JSON value. */
export function duplicateMembers(text: string): string[] {
  const tokens = new JsonTokens(text);
  const open: OpenValue[] = [];
  const duplicates: string[] = [];

  const readName = (object: OpenValue & { kind: 'object' }): void => {
    if (tokens.peek() !== '"') tokens.fail('a member name in quotation marks');
    object.name = tokens.string();
    if (object.names.has(object.name) && duplicates.length < MAX_DUPLICATES) duplicates.push(pointerTo(open));
    object.names.add(object.name);
    if (tokens.peek() !== ':') tokens.fail('":"');
    tokens.skip();
  };

  do {
    if (!beginValue(tokens, open, readName)) endValues(tokens, open, readName);
  } while (open.length > 0);
  if (tokens.peek() !== '') tokens.fail('the end of the text');
  return duplicates;
}

type ReadName = (object: OpenValue & { kind: 'object' }) => void;

/** Reads a scalar, an empty container, or the opening of another. @returns whether a value is still to come inside. */
function beginValue(tokens: JsonTokens, open: OpenValue[], readName: ReadName): boolean {
  const first = tokens.peek();
  if (first === '[') {
    tokens.skip();
    if (tokens.peek() === ']') return closeEmpty(tokens);
    open.push({ kind: 'array', index: 0 });
    return true;
  }
  if (first === '{') {
    tokens.skip();
    if (tokens.peek() === '}') return closeEmpty(tokens);
    const object = { kind: 'object' as const, names: new Set<string>(), name: '' };
    open.push(object);
    readName(object);
    return true;
  }
  if (first === '"') tokens.string();
  else tokens.scalar();
  return false;
}

function closeEmpty(tokens: JsonTokens): false {
  tokens.skip();
  return false;
}

/** After a value: closes what ends here, and stops after the comma that announces another value. */
function endValues(tokens: JsonTokens, open: OpenValue[], readName: ReadName): void {
  for (let inner = open.at(-1); inner !== undefined; inner = open.at(-1)) {
    const next = tokens.peek();
    if (next === ',') {
      tokens.skip();
      if (inner.kind === 'array') inner.index += 1;
      else readName(inner);
      return;
    }
    const closing = inner.kind === 'array' ? ']' : '}';
    if (next !== closing) tokens.fail(`"," or "${closing}"`);
    tokens.skip();
    open.pop();
  }
}

function pointerTo(open: readonly OpenValue[]): string {
  return open
    .map((value) => `/${value.kind === 'array' ? value.index : escapePointerToken(value.name)}`)
    .join('');
}
