import { replaceRanges, type TextRange } from './linear-pattern';

/** What stands where something was hidden. */
export const REDACTED = '[redacted]';

/** Shorter secrets are not looked for: they would be found in what is no secret. In UTF-16 code units. */
const MIN_SECRET_LENGTH = 8;

/** The secrets as they stand in texts: as they are, in a JSON string, in a URL. */
export function secretForms(secrets: readonly string[]): string[] {
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
export function maskSecrets(text: string, secrets: readonly string[]): string {
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
export function cover(text: string, ranges: readonly TextRange[]): string {
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
