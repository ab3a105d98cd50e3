import { matchRanges, type TextRange } from './linear-pattern';
import { cover, REDACTED } from './masked-text';
import { plainName } from './sensitive-name';

/** Whether the value of a member with this name is hidden whole. */
type Hides = (name: string) => boolean;

/** The value of such a header is the rest of its line. */
const HEADER_NAMES: readonly string[] = ['authorization', 'proxyauthorization', 'cookie', 'setcookie'];

/** RE2 syntax; group 1 is what is hidden. None reads on beyond its match, so that finding them takes linear time. */
const CREDENTIALS = [
  String.raw`(?i:\bbearer)\s+([A-Za-z0-9._~+/=-]{6,})`,
  // Base64 has an upper-case letter, a digit or a sign, and "basic knowledge" has none.
  String.raw`(?i:\bbasic)\s+([a-z]*[A-Z0-9+/=_-][A-Za-z0-9+/=_-]{3,})`,
  String.raw`(pk_[a-z0-9-]+_[A-Za-z0-9]{4,}_[A-Za-z0-9]{8,})`,
  String.raw`(whsec_[A-Za-z0-9+/=_-]{8,})`,
  String.raw`(pct_[A-Za-z0-9_-]{20,})`,
  String.raw`\b(sk-[A-Za-z0-9_-]{8,})`,
  String.raw`\b([sr]k_(?:live|test)_[A-Za-z0-9]{8,})`,
  String.raw`((?:AKIA|ASIA)[A-Z0-9]{12,})`,
  String.raw`(gh[a-z]_[A-Za-z0-9]{16,})`,
  String.raw`(github_pat_[A-Za-z0-9_]{16,})`,
  String.raw`(xox[a-z]-[A-Za-z0-9-]{8,})`,
  String.raw`(eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*)`,
  String.raw`(-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z))`,
  String.raw`[A-Za-z0-9]://([^\s/?#"'<>]+)@`,
] as const;

/** What each of {@link CREDENTIALS} begins with: most texts hold none of it, and need no closer look. */
const BEGINNINGS =
  /bearer|basic|pk_|pct_|whsec_|sk-|[sr]k_|A[KS]IA|gh[a-z]_|github_pat_|xox|eyJ|-----BEGIN|:\/\//i;

/** Hiding one part may bring another to light; a text in which that goes on for longer is left as it is then. */
const MAX_ROUNDS = 8;

/** Hides what looks like a credential, what `patterns` find, and the values of names that `hides` tells. */
export function maskCredentials(text: string, hides: Hides, patterns: readonly string[]): string {
  let shown = text;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = shown;
    shown = cover(before, [
      ...(BEGINNINGS.test(before) ? CREDENTIALS : []).flatMap((pattern) =>
        matchRanges(pattern, before, 1, Infinity),
      ),
      ...patterns.flatMap((pattern) => matchRanges(pattern, before)),
      ...assignedValues(before, hides),
      ...optionValues(before, hides),
    ]);
    if (shown === before) break;
  }
  return shown;
}

/** A separator after this many characters belongs to no name. */
const MAX_NAME = 128;

/** The values of sensitive names in a text: `"name": "…"` of JSON at any level of escaping, `name=…`, `Name: …`. */
function assignedValues(text: string, hides: Hides): TextRange[] {
  const found: TextRange[] = [];
  const separator = /[:=]/g;
  for (let match = separator.exec(text); match !== null; match = separator.exec(text)) {
    const name = nameBefore(text, match.index);
    if (name === undefined || !(hides(name.text) || hides(name.text.replace(/^.*[.]/s, '')))) continue;
    const start = skip(text, separator.lastIndex, /[\s=:>]/);
    const isHeader = HEADER_NAMES.includes(plainName(name.text)) && text[match.index] === ':';
    const range = valueAt(text, start, isHeader ? new RegExp(`[\\r\\n${name.opening}]`) : /[\s"'&]/);
    if (range.end > range.start) found.push(range);
    separator.lastIndex = Math.max(separator.lastIndex, range.end);
  }
  return found;
}

/** The values of sensitive options of a command line: `--name value`. */
function optionValues(text: string, hides: Hides): TextRange[] {
  const found: TextRange[] = [];
  const option = /(?<![\w-])--?([A-Za-z][\w-]{0,127})[ \t]+(?=[^\s-])/g;
  for (let match = option.exec(text); match !== null; match = option.exec(text)) {
    if (!hides(match[1] ?? '')) continue;
    const range = valueAt(text, option.lastIndex, /[\s"']/);
    found.push(range);
    option.lastIndex = Math.max(option.lastIndex, range.end);
  }
  return found;
}

/** The name that ends before a separator, quoted or not; `opening` is the quote that stands before a bare name. */
function nameBefore(text: string, separator: number): { text: string; opening: string } | undefined {
  let end = separator;
  while (end > 0 && separator - end < MAX_NAME && /[ \t]/.test(text.charAt(end - 1))) end -= 1;
  const quote = /["']/.test(text.charAt(end - 1)) ? text.charAt(end - 1) : '';
  if (quote !== '') {
    end -= 1;
    while (text[end - 1] === '\\') end -= 1;
  }
  const isPart = (character: string): boolean =>
    quote === '' ? /[\p{L}\p{N}_.-]/u.test(character) : character !== quote && character !== '\n';
  let start = end;
  while (start > 0 && end - start < MAX_NAME && isPart(text.charAt(start - 1))) start -= 1;
  if (start === end) return undefined;
  const before = text.charAt(start - 1);
  return { text: text.slice(start, end), opening: quote === '' && /["']/.test(before) ? before : '' };
}

/** What a value takes: a quoted text without its quotes, brackets with all between them, or all up to `terminator`. */
function valueAt(text: string, start: number, terminator: RegExp): TextRange {
  const quoteAt = skip(text, start, /\\/);
  if (/["']/.test(text.charAt(quoteAt))) {
    return { start: quoteAt + 1, end: closingQuote(text, quoteAt, quoteAt - start) };
  }
  let end = start;
  if (text.startsWith(REDACTED, start)) {
    end += REDACTED.length;
    if (/[,;)}\]]/.test(text.charAt(end))) return { start, end };
  } else if (/[[{]/.test(text.charAt(start))) {
    return { start, end: closingBracket(text, start) };
  }
  while (end < text.length && !terminator.test(text.charAt(end))) end += 1;
  return { start, end };
}

/**
 * Where the quoted content ends. A quote that opens after `escapes` backslashes closes after as many; content of that
 * level of escaping has backslashes in twice that many and two, so that the remainder tells which quote it is.
 */
function closingQuote(text: string, opening: number, escapes: number): number {
  const quote = text.charAt(opening);
  for (let at = text.indexOf(quote, opening + 1); at !== -1; at = text.indexOf(quote, at + 1)) {
    let content = at;
    while (content > opening + 1 && text[content - 1] === '\\') content -= 1;
    if ((at - content) % (2 * (escapes + 1)) === escapes) return at - escapes;
  }
  return text.length;
}

function closingBracket(text: string, opening: number): number {
  let depth = 0;
  for (let at = opening; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (/[[{]/.test(character)) depth += 1;
    else if (/[\]}]/.test(character)) depth -= 1;
    else if (character === '"') {
      let escapes = 0;
      while (text[at - escapes - 1] === '\\') escapes += 1;
      at = closingQuote(text, at, escapes) + escapes;
    }
    if (depth === 0) return at + 1;
  }
  return text.length;
}

function skip(text: string, from: number, characters: RegExp): number {
  let at = from;
  while (at < text.length && characters.test(text.charAt(at))) at += 1;
  return at;
}
