import type { z } from 'zod';

type RawIssue = z.core.$ZodRawIssue;

/**
 * Says what a schema allows at the place of an issue. Given to `safeParse` as its error map, where the schema is
 * still at hand; messages that the schema's author wrote go before it. Never quotes the value.
 */
export function allowedBySchema(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'nonoptional' ? 'is required' : `must be ${named(issue.expected)}`;
    case 'invalid_value':
      return `must be ${listed(issue.values.map((value) => JSON.stringify(value)))}`;
    case 'too_big':
      return `must be ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}${unit(issue.origin)}`;
    case 'too_small':
      return `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${unit(issue.origin)}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return `must ${issue.format === 'regex' ? `match ${issue.pattern ?? 'the pattern'}` : `be of the form ${issue.format}`}`;
    case 'unrecognized_keys':
      return `is not known here; known: ${knownMembers(issue)}`;
    case 'invalid_union':
      return unionChoices(issue);
    case 'invalid_key':
      return 'is not an allowed member name';
    default:
      return 'is not allowed';
  }
}

function named(type: string): string {
  if (type === 'int') return 'an integer';
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function listed(values: readonly string[]): string {
  return values.length === 1 ? (values[0] ?? '') : `one of ${values.join(', ')}`;
}

function unit(origin: string): string {
  if (origin === 'string') return ' characters long';
  return origin === 'array' || origin === 'set' ? ' items long' : '';
}

function knownMembers(issue: RawIssue): string {
  const shape = issue.inst?._zod.def;
  return shape !== undefined && 'shape' in shape && typeof shape.shape === 'object' && shape.shape !== null
    ? Object.keys(shape.shape).join(', ') || 'nothing'
    : 'see the documentation';
}

function unionChoices(issue: RawIssue & { code: 'invalid_union' }): string {
  const discriminator = issue.discriminator;
  const schema = issue.inst?._zod;
  const known = schema !== undefined && 'propValues' in schema ? schema.propValues : undefined;
  const values = discriminator === undefined ? undefined : known?.[discriminator];
  if (values === undefined) return 'matches none of the allowed forms';
  return `must be ${listed([...values].map((value) => JSON.stringify(value)))}`;
}
