import { z } from 'zod';
import { AFFIX_OPS, EQUALITY_OPS, isDateTime, MEMBERSHIP_OPS, ORDER_OPS, type Condition } from './condition';
import { fieldFault, isAtOrBelow, MAX_FIELD_LENGTH } from './condition-fields';
import { findUnfaithful, type JsonValue } from './json-value';
import { MAX_PATTERN_LENGTH, patternFault } from './linear-pattern';
import type { Point } from './point';

export const MAX_CONDITIONS = 8;

/** For checks that run whatever else is at fault with the value, so that every fault is listed at once. */
const always = { when: () => true };

const textOf = (check: (text: string) => string | undefined, message: string) =>
  z.string(message).superRefine((text, ctx) => {
    const fault = check(text);
    if (fault !== undefined) ctx.addIssue({ code: 'custom', message: fault });
  });

const jsonValue = z
  .custom<JsonValue>((value) => value !== undefined, 'a JSON value')
  .superRefine((value, ctx) => {
    const unfaithful = findUnfaithful(value);
    if (unfaithful === undefined) return;
    ctx.addIssue({ code: 'custom', message: `${unfaithful.problem} (at "${unfaithful.pointer}")` });
  })
  .meta({ type: ['object', 'array', 'string', 'number', 'boolean', 'null'] });

const wellFormed = (text: string) => (text.isWellFormed() ? undefined : 'the string holds a lone surrogate');

const ORDERED = 'a number or a date-time of RFC 3339, such as 2026-01-31T12:00:00Z';

const field = textOf(fieldFault, 'a JSON Pointer').meta({
  maxLength: MAX_FIELD_LENGTH,
  description:
    'RFC 6901 JSON Pointer: `/tool`, `/text`, `/profile/id`, or `/input`, `/output`, `/error`, `/actor`, ' +
    '`/thread/metadata` or a part of one of these.',
});

const conditionOf = <const Ops extends readonly [string, ...string[]], Value extends z.ZodType>(
  ops: Ops,
  value: Value,
) => z.strictObject({ field, op: z.enum(ops), value });

const variants = [
  conditionOf(EQUALITY_OPS, jsonValue),
  conditionOf(
    MEMBERSHIP_OPS,
    z.array(jsonValue, 'a list of JSON values').min(1, 'a list with at least one value'),
  ),
  conditionOf(
    ORDER_OPS,
    z.union([z.number(), textOf((text) => (isDateTime(text) ? undefined : ORDERED), ORDERED)], ORDERED),
  ),
  conditionOf(AFFIX_OPS, textOf(wellFormed, 'a string')),
  conditionOf(
    ['matches'],
    textOf(patternFault, 'a pattern').meta({
      maxLength: MAX_PATTERN_LENGTH,
      description: 'RE2 syntax; found anywhere in the field.',
    }),
  ),
  conditionOf(['exists'], z.boolean('true: the field is there, also when null; false: it is not there')),
] as const;

const OPS = variants.flatMap((variant): string[] => variant.shape.op.options);

export const conditionSchema = z
  .discriminatedUnion('op', variants, {
    error: (issue) =>
      issue.code === 'invalid_union' ? `one of ${OPS.join(', ')}` : 'a condition is an object',
  })
  .superRefine((condition: unknown, ctx) => {
    // The faults beside an unknown operator: no variant has looked at this condition.
    const { op, field: pointer } = partsOf(condition);
    if (OPS.some((known) => known === op) || pointer === undefined) return;
    const fault = typeof pointer === 'string' ? fieldFault(pointer) : 'a JSON Pointer';
    if (fault !== undefined) ctx.addIssue({ code: 'custom', path: ['field'], message: fault });
  }, always)
  .meta({ id: 'Condition' }) satisfies z.ZodType<Condition>;

/** All of them must hold. */
export const conditionsSchema = z
  .array(conditionSchema)
  .superRefine((conditions: unknown, ctx) => {
    if (!Array.isArray(conditions)) return;
    if (conditions.length > MAX_CONDITIONS) {
      ctx.addIssue({
        code: 'custom',
        message: `at most ${MAX_CONDITIONS} conditions; these are ${conditions.length}`,
      });
    }
    const fixed = new Set<unknown>();
    conditions.forEach((condition: unknown, index) => {
      const { op, field: pointer } = partsOf(condition);
      if (op !== 'eq') return;
      if (fixed.has(pointer)) {
        ctx.addIssue({
          code: 'custom',
          path: [index],
          message: 'an earlier `eq` names this field, and both cannot hold; use `in` for alternatives',
        });
      }
      fixed.add(pointer);
    });
  }, always)
  .meta({ maxItems: MAX_CONDITIONS });

/** Whether a call has come to a tool, and to its result, at each point. */
const ABSENT_AT = {
  before_input: ['/tool', '/input', '/output', '/error'],
  before_tool_call: ['/text', '/output', '/error'],
  after_tool_call: ['/text'],
  after_output: ['/tool', '/input', '/output', '/error'],
} as const satisfies Record<Point, readonly string[]>;

/** Says that a point does not have the field, or nothing. The field is one that {@link conditionSchema} accepts. */
export function fieldFaultAt(point: Point, pointer: string): string | undefined {
  const absent = ABSENT_AT[point].find((root) => isAtOrBelow(pointer, root));
  return absent === undefined ? undefined : `${point} has no ${absent}`;
}

function partsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
