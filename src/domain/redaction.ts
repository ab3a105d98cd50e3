import { MAX_JSON_DEPTH, type JsonValue } from './json-value';
import { maskCredentials } from './credential-text';
import { maskSecrets, REDACTED, secretForms } from './masked-text';
import { isSensitiveName, plainName } from './sensitive-name';

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
  const fields = new Set(rules.fields.map(plainName));
  const hides = (name: string): boolean => isSensitiveName(name, fields);
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
