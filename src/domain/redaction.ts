import { MAX_JSON_DEPTH, type JsonValue } from './json-value';
import { matchRanges, replaceRanges, type TextRange } from './linear-pattern';

/** What stands where something was hidden. */
export const REDACTED = '[redacted]';

/** Shorter secrets are not looked for: they would be found in what is no secret. In UTF-16 code units. */
const MIN_SECRET_LENGTH = 8;

/** What is hidden beyond the built-in rules. Names and patterns have passed `redactionSettingsSchema`. */
export interface RedactionRules {
  readonly fields: readonly string[];
  readonly patterns: readonly string[];
  /** Secret values that the service knows, literally. */
  readonly secrets: readonly string[];
}

/**
 * What events may show of a value:
 *
 * - R1 the value of a member with a sensitive name is hidden whole, at any depth, whatever its type;
 * - R2 what looks like a credential is hidden in every string, every member name and every number;
 * - R3 a text that is JSON is treated as the JSON that it holds, and as the text that it is;
 * - R4 no secret that the service knows is left in any string, member name or number;
 * - R5 what nests deeper than {@link MAX_JSON_DEPTH} levels is hidden;
 * - R6 a value without any of this comes back as it is, and redacting twice is redacting once.
 */
export function redactValue(value: JsonValue, rules: RedactionRules): JsonValue {
  return redactParts(value, maskOf(rules), 0);
}

/** As {@link redactValue} does with a string. */
export function redactText(text: string, rules: RedactionRules): string {
  return redactString(text, maskOf(rules));
}

/** Hides nothing but the secrets (R3, R4, R5). */
export function replaceSecrets(value: JsonValue, secrets: readonly string[]): JsonValue {
  const hidden = secretForms(secrets);
  return redactParts(value, { hides: () => false, text: (text) => maskSecrets(text, hidden) }, 0);
}

interface Mask {
  /** Whether the value of a member with this name is hidden whole. */
  readonly hides: (name: string) => boolean;
  readonly text: (text: string) => string;
}

function maskOf(rules: RedactionRules): Mask {
  const secrets = secretForms(rules.secrets);
  const fields = new Set([...SENSITIVE_NAMES, ...rules.fields.map(plainName)]);
  const hides = (name: string): boolean => {
    const plain = plainName(name);
    return fields.has(plain) || SENSITIVE_ENDINGS.some((ending) => plain.endsWith(ending));
  };
  const text = (original: string): string => {
    const shown = maskCredentials(maskSecrets(original, secrets), hides, rules.patterns);
    return maskSecrets(shown, secrets);
  };
  return { hides, text };
}

/** Gives back the value itself when nothing in it is hidden. */
function redactParts(value: JsonValue, mask: Mask, depth: number): JsonValue {
  if (typeof value === 'string') return redactString(value, mask);
  if (typeof value === 'number') {
    const text = String(value);
    return mask.text(text) === text ? value : REDACTED;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_JSON_DEPTH) return REDACTED;
  if (isArray(value)) {
    const shown = value.map((element) => redactParts(element, mask, depth + 1));
    return shown.every((element, index) => element === value[index]) ? value : shown;
  }
  const members = Object.entries(value);
  const shown = members.map(([name, member]): [string, JsonValue] => [
    mask.text(name),
    mask.hides(name) ? REDACTED : redactParts(member, mask, depth + 1),
  ]);
  const unchanged = shown.every(
    ([name, member], index) => members[index]?.[0] === name && members[index][1] === member,
  );
  // fromEntries defines members: `__proto__` is a name like any other.
  return unchanged ? value : Object.fromEntries(withDistinctNames(shown));
}

function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Names that became equal when parts of them were hidden are numbered, so that no member is lost. */
function withDistinctNames(members: readonly [string, JsonValue][]): [string, JsonValue][] {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  return members.map(([name, member]) => {
    let distinct = name;
    while (taken.has(distinct)) {
      const count = (counts.get(name) ?? 1) + 1;
      counts.set(name, count);
      distinct = `${name}#${count}`;
    }
    taken.add(distinct);
    return [distinct, member];
  });
}

function redactString(text: string, mask: Mask): string {
  return mask.text(redactJsonText(text, mask));
}

/** A text that is no JSON array or object, or in which nothing is hidden, comes back as it is. */
function redactJsonText(text: string, mask: Mask): string {
  if (!/^\s*[[{"]/.test(text)) return text;
  let parsed: JsonValue;
  try {
    parsed = JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
  const shown = redactParts(parsed, mask, 0);
  return shown === parsed ? text : JSON.stringify(shown);
}

const SENSITIVE_NAMES = [
  ...['passwd', 'pwd', 'passphrase', 'credential', 'credentials', 'sessionid', 'connectionstring'],
  ...['authorization', 'proxyauthorization', 'cookie', 'setcookie'],
] as const;

const SENSITIVE_ENDINGS = ['password', 'secret', 'token', 'apikey', 'privatekey'] as const;

/** The value of such a header is the rest of its line. */
const HEADER_NAMES: readonly string[] = ['authorization', 'proxyauthorization', 'cookie', 'setcookie'];

function plainName(name: string): string {
  return name.toLowerCase().replace(/[-_ ]/g, '');
}

/** The secrets as they stand in texts: as they are, in a JSON string, in a URL. */
function secretForms(secrets: readonly string[]): string[] {
  const known = secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH && secret.isWellFormed());
  const forms = known.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
  ]);
  // What is a part of the mark cannot be hidden by it.
  return [...new Set(forms)].filter((form) => !REDACTED.includes(form));
}

/** Ends, because each round leaves fewer characters and marks than it found. */
function maskSecrets(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (;;) {
    const before = shown;
    const found = secrets.flatMap((secret) => occurrences(secret, before));
    if (found.length === 0) return shown;
    shown = cover(before, found);
  }
}

/** Every occurrence, also where two overlap. */
function occurrences(part: string, text: string): TextRange[] {
  const found: TextRange[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) {
    found.push({ start: at, end: at + part.length });
  }
  return found;
}

/** Puts one mark in the place of ranges that overlap, with each other or with a mark that is there already. */
function cover(text: string, ranges: readonly TextRange[]): string {
  if (ranges.length === 0) return text;
  const ordered = [...ranges, ...occurrences(REDACTED, text)].sort((a, b) => a.start - b.start);
  const merged: { start: number; end: number }[] = [];
  for (const { start, end } of ordered) {
    const last = merged.at(-1);
    if (last !== undefined && start < last.end) last.end = Math.max(last.end, end);
    else merged.push({ start, end });
  }
  return replaceRanges(text, merged, REDACTED);
}

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

function maskCredentials(text: string, hides: Mask['hides'], patterns: readonly string[]): string {
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
function assignedValues(text: string, hides: Mask['hides']): TextRange[] {
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
function optionValues(text: string, hides: Mask['hides']): TextRange[] {
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
