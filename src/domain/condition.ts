import { lookUp } from './condition-fields';
import type { JsonValue } from './json-value';
import { matchesPattern } from './linear-pattern';

export const EQUALITY_OPS = ['eq', 'neq', 'contains'] as const;
export const MEMBERSHIP_OPS = ['in', 'not_in'] as const;
export const ORDER_OPS = ['gt', 'gte', 'lt', 'lte'] as const;
export const AFFIX_OPS = ['starts_with', 'ends_with'] as const;

type OrderOp = (typeof ORDER_OPS)[number];

/** What conditions look at: the part of a hook's input that is the same on every try. */
export interface ConditionFacts {
  readonly tool?: string;
  readonly input?: JsonValue;
  readonly output?: JsonValue;
  readonly error?: JsonValue;
  readonly text?: string;
  readonly actor?: JsonValue;
  readonly thread?: { readonly metadata?: JsonValue };
  readonly profile?: { readonly id: string };
}

/** One test of one field. `field` is an RFC 6901 pointer into {@link ConditionFacts}. */
export type Condition = { readonly field: string } & (
  | { readonly op: (typeof EQUALITY_OPS)[number]; readonly value: JsonValue }
  | { readonly op: (typeof MEMBERSHIP_OPS)[number]; readonly value: readonly JsonValue[] }
  | { readonly op: OrderOp; readonly value: number | string }
  | { readonly op: (typeof AFFIX_OPS)[number]; readonly value: string }
  | { readonly op: 'matches'; readonly value: string }
  | { readonly op: 'exists'; readonly value: boolean }
);

/** An empty list asks for nothing, and holds. */
export function allHold(conditions: readonly Condition[], facts: ConditionFacts): boolean {
  return conditions.every((condition) => conditionHolds(condition, facts));
}

/**
 * Whether the condition holds. Types are never coerced: a field of another type than the operator needs does not hold.
 * `neq` and `not_in` are the exact negations of `eq` and `in`, so that they hold on a field that is not there.
 */
export function conditionHolds(condition: Condition, facts: ConditionFacts): boolean {
  const found = lookUp(condition.field, facts);
  const field = found?.value;
  switch (condition.op) {
    case 'eq':
      return found !== undefined && jsonEquals(found.value, condition.value);
    case 'neq':
      return !(found !== undefined && jsonEquals(found.value, condition.value));
    case 'in':
      return found !== undefined && holdsEqual(condition.value, found.value);
    case 'not_in':
      return !(found !== undefined && holdsEqual(condition.value, found.value));
    case 'contains':
      if (isArray(field)) return holdsEqual(field, condition.value);
      return (
        typeof field === 'string' && typeof condition.value === 'string' && field.includes(condition.value)
      );
    case 'starts_with':
      return typeof field === 'string' && field.startsWith(condition.value);
    case 'ends_with':
      return typeof field === 'string' && field.endsWith(condition.value);
    case 'matches':
      return typeof field === 'string' && matchesPattern(condition.value, field);
    case 'exists':
      return (found !== undefined) === condition.value;
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte': {
      const order = field === undefined ? undefined : compare(field, condition.value);
      return order !== undefined && isOrdered(condition.op, order);
    }
  }
}

/** Equality of JSON values: members in any order, numbers by value, strings code unit by code unit. */
function jsonEquals(left: JsonValue, right: JsonValue): boolean {
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) {
    return left === right;
  }
  if (isArray(left) || isArray(right)) {
    return (
      isArray(left) &&
      isArray(right) &&
      left.length === right.length &&
      left.every((element, index) => jsonEquals(element, right[index] as JsonValue))
    );
  }
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every(
      (name) => Object.hasOwn(right, name) && jsonEquals(left[name] as JsonValue, right[name] as JsonValue),
    )
  );
}

/** Whether the text is a date-time of RFC 3339 that exists: full date, time and offset. */
export function isDateTime(text: string): boolean {
  return readInstant(text) !== undefined;
}

function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function holdsEqual(elements: readonly JsonValue[], value: JsonValue): boolean {
  return elements.some((element) => jsonEquals(element, value));
}

function isOrdered(op: OrderOp, order: number): boolean {
  switch (op) {
    case 'gt':
      return order > 0;
    case 'gte':
      return order >= 0;
    case 'lt':
      return order < 0;
    case 'lte':
      return order <= 0;
  }
}

/** Negative, zero or positive; nothing when the two have no order: only two numbers or two date-times have one. */
function compare(left: JsonValue, right: number | string): number | undefined {
  if (typeof left === 'number' && typeof right === 'number') return left < right ? -1 : Number(left > right);
  if (typeof left !== 'string' || typeof right !== 'string') return undefined;
  const [a, b] = [readInstant(left), readInstant(right)];
  if (a === undefined || b === undefined) return undefined;
  if (a.minute !== b.minute) return a.minute - b.minute;
  if (a.second !== b.second) return a.second - b.second;
  return a.fraction < b.fraction ? -1 : Number(a.fraction > b.fraction);
}

/** A leap second is the 60th of its minute, so that it lies before the next minute and after the 59th second. */
interface Instant {
  /** Of UTC, since 1970, in milliseconds. */
  readonly minute: number;
  readonly second: number;
  /** Decimal digits without trailing zeros: their order as texts is their order as fractions, however many. */
  readonly fraction: string;
}

const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.(\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

function readInstant(text: string): Instant | undefined {
  const parts = DATE_TIME.exec(text);
  if (parts === null) return undefined;
  const numberAt = (index: number): number => Number(parts[index] ?? '0');
  const date = new Date(0);
  date.setUTCFullYear(numberAt(1), numberAt(2) - 1, numberAt(3));
  if (date.getUTCMonth() !== numberAt(2) - 1 || date.getUTCDate() !== numberAt(3)) return undefined;
  const offset = (numberAt(9) * 60 + numberAt(10)) * (parts[8] === '-' ? -1 : 1);
  date.setUTCHours(numberAt(4), numberAt(5) - offset);
  const second = numberAt(6);
  if (second === 60 && !endsUtcMonth(date)) return undefined;
  return { minute: date.getTime(), second, fraction: withoutTrailingZeros(parts[7] ?? '') };
}

/** Leap seconds are put in at the end of a month of UTC, and nowhere else (RFC 3339 §5.7). */
function endsUtcMonth(minute: Date): boolean {
  const next = new Date(minute.getTime() + 60_000);
  return next.getUTCDate() === 1 && next.getUTCHours() === 0 && next.getUTCMinutes() === 0;
}

function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}
