import { RE2JS } from 're2js';

/** Longest pattern, in UTF-16 code units. */
export const MAX_PATTERN_LENGTH = 1_024;

/** Largest program a pattern may compile to: a scan takes at most this many steps for each character of the text. */
const MAX_PATTERN_PROGRAM = 512;

/** Compiled patterns that are kept; the least recently used one goes first. */
const MAX_COMPILED = 256;

/**
 * Each match begins a scan of its own that may read to the end of the text, so that finding all of them can take the
 * square of its length. This is how many steps (characters times program) the scans of one text may take at worst.
 */
const STEP_BUDGET = 300_000_000;

/** From `start` up to, not including, `end`, in UTF-16 code units. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

const compiled = new Map<string, RE2JS>();

/** Says what is wrong with a pattern of RE2 syntax, or nothing. */
export function patternFault(text: string): string | undefined {
  if (text.length > MAX_PATTERN_LENGTH) return `a pattern has at most ${MAX_PATTERN_LENGTH} characters`;
  try {
    return compile(text).programSize() > MAX_PATTERN_PROGRAM
      ? 'the pattern repeats too much; write smaller repeat counts'
      : undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `this is not RE2 syntax: ${reason.replace(/^error parsing regexp: /, '')}`.toWellFormed();
  }
}

/** Whether the pattern matches anywhere in the text. It must have passed {@link patternFault}. */
export function matchesPattern(pattern: string, text: string): boolean {
  return compile(pattern).test(text);
}

/**
 * Where the pattern matches, in order and without overlap; with `group`, where that group of each match is. Matches of
 * nothing are left out. When the steps are used up, the rest of the text counts as one match, so that what is hidden
 * by this is hidden in any case; a pattern that never reads beyond its match may have as many steps as it likes.
 */
export function matchRanges(pattern: string, text: string, group = 0, steps = STEP_BUDGET): TextRange[] {
  const regex = compile(pattern);
  if (!regex.test(text)) return [];
  const ranges: TextRange[] = [];
  const matcher = regex.matcher(text);
  let budget = steps;
  while (matcher.find()) {
    const range = { start: matcher.start(group), end: matcher.end(group) };
    if (range.end > range.start) ranges.push(range);
    budget -= (text.length - matcher.end()) * regex.programSize();
    if (budget < 0) {
      ranges.push({ start: matcher.end(), end: text.length });
      break;
    }
  }
  return ranges;
}

/** Every match gives way to the replacement as it is written: `$1` and `\` have no meaning in it. */
export function replaceMatches(pattern: string, text: string, replacement: string): string {
  return replaceRanges(text, matchRanges(pattern, text), replacement);
}

/** The ranges are in order and do not overlap. */
export function replaceRanges(text: string, ranges: readonly TextRange[], replacement: string): string {
  let replaced = '';
  let done = 0;
  for (const { start, end } of ranges) {
    replaced += text.slice(done, start) + replacement;
    done = end;
  }
  return replaced + text.slice(done);
}

function compile(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  const regex = known ?? RE2JS.compile(pattern);
  compiled.delete(pattern);
  compiled.set(pattern, regex);
  const [oldest] = compiled.keys();
  if (compiled.size > MAX_COMPILED && oldest !== undefined) compiled.delete(oldest);
  return regex;
}
