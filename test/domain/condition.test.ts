import { OpenApiGeneratorV31 } from '@asteasolutions/zod-to-openapi';
import fc from 'fast-check';
import { allHold, conditionHolds, type Condition, type ConditionFacts } from '../../src/domain/condition';
import { conditionsSchema, fieldFaultAt, MAX_CONDITIONS } from '../../src/domain/condition-schema';
import { canonicalJson } from '../../src/domain/digest';
import type { JsonValue } from '../../src/domain/json-value';
import { matchesPattern, MAX_PATTERN_LENGTH, patternFault } from '../../src/domain/linear-pattern';
import type { Point } from '../../src/domain/point';
import { assertDropsNothing } from '../../src/server/http/closed-schema';

const facts: ConditionFacts = {
  tool: 'shell.run',
  input: JSON.parse(
    '{"a/b":1,"m~n":2,"~1":3,"":{"":4},"list":["x",[1],{"k":null}],"n":null,"zero":0,"text":"straße",' +
      '"at":"2026-01-31T12:00:00Z","no":false,"01":"o","__proto__":{"constructor":5}}',
  ),
  actor: { id: 'ann' },
  thread: { metadata: { team: 'ops' } },
  profile: { id: 'p1' },
};

const NOON = '2026-01-31T12:00:00Z';

const holds = (field: string, op: string, value: unknown): boolean =>
  conditionHolds({ field, op, value } as Condition, facts);

const holdsFor = (input: JsonValue, op: string, value: unknown): boolean =>
  conditionHolds({ field: '/input', op, value } as Condition, { input });

test.each<[string, JsonValue]>([
  ['/tool', 'shell.run'],
  ['/input/a~1b', 1],
  ['/input/m~0n', 2],
  ['/input/~01', 3],
  ['/input//', 4],
  ['/input/list/0', 'x'],
  ['/input/list/1', [1]],
  ['/input/list/2/k', null],
  ['/input/n', null],
  ['/input/01', 'o'],
  ['/input/__proto__', { constructor: 5 }],
  ['/input/__proto__/constructor', 5],
  ['/actor/id', 'ann'],
  ['/thread/metadata/team', 'ops'],
  ['/profile/id', 'p1'],
])('the pointer %s finds an own member', (field, value) => {
  expect(holds(field, 'eq', value)).toBe(true);
  expect(holds(field, 'exists', true)).toBe(true);
  expect(holds(field, 'exists', false)).toBe(false);
});

test.each([
  ...['/output', '/text', '/error', '/input/none', '/input/n/x', '/input/toString', '/input/constructor'],
  ...['/input/hasOwnProperty', '/input/list/length', '/input/list/-', '/input/list/00', '/input/list/01'],
  ...['/input/list/+1', '/input/list/-0', '/input/list/1.0', '/input/list/1e0', '/input/list/ 1'],
  ...['/input/list/', '/input/list/3', '/input/list/map', '/input/text/0', '/input/text/length'],
  ...['/input/zero/toFixed', '/tool/length', '/actor/__proto__', '/thread/metadata/constructor'],
])('the pointer %s finds nothing', (field) => {
  expect(holds(field, 'exists', true)).toBe(false);
  expect(holds(field, 'exists', false)).toBe(true);
  for (const op of ['eq', 'gt', 'gte', 'lt', 'lte', 'contains', 'starts_with', 'ends_with', 'matches']) {
    expect(holds(field, op, '')).toBe(false);
  }
  expect(holds(field, 'neq', null)).toBe(true);
  expect(holds(field, 'in', [null])).toBe(false);
  expect(holds(field, 'not_in', [null])).toBe(true);
});

test('a pollution of Object.prototype is not found', () => {
  Object.defineProperty(Object.prototype, 'polluted', { value: 1, configurable: true });
  try {
    expect(holds('/input/polluted', 'exists', true)).toBe(false);
    expect(holdsFor({}, 'eq', { polluted: 1 })).toBe(false);
    expect(holdsFor({ polluted: 1 }, 'eq', { x: 1 })).toBe(false);
  } finally {
    Reflect.deleteProperty(Object.prototype, 'polluted');
  }
});

test.each<[JsonValue, JsonValue]>([
  [
    { a: 1, b: [2] },
    { b: [2], a: 1 },
  ],
  [-0, 0],
  [JSON.parse('1.0'), 1],
  [JSON.parse('1e2'), 100],
  [null, null],
  ['', ''],
  [JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":1}')],
])('%j equals %j', (left, right) => {
  expect(holdsFor(left, 'eq', right)).toBe(true);
  expect(holdsFor(right, 'eq', left)).toBe(true);
});

test.each<[JsonValue, JsonValue]>([
  [1, '1'],
  [0, false],
  [0, null],
  ['', null],
  ['true', true],
  [[], {}],
  [
    [1, 2],
    [2, 1],
  ],
  [[1], 1],
  [[1], { 0: 1 }],
  [{}, null],
  [{ a: 1 }, { a: 1, b: 2 }],
  [{ a: 1 }, { b: 1 }],
  [{}, JSON.parse('{"__proto__":1}')],
  ['e\u0301', '\u00e9'],
])('%j does not equal %j: nothing is coerced', (left, right) => {
  expect(holdsFor(left, 'eq', right)).toBe(false);
  expect(holdsFor(right, 'eq', left)).toBe(false);
  expect(holdsFor(left, 'neq', right)).toBe(true);
});

test.each<[JsonValue, JsonValue, number]>([
  [1, 2, -1],
  [2, 1, 1],
  [-0, 0, 0],
  [0.1, 0.1, 0],
  ['2026-01-31T12:00:00Z', '2026-01-31T13:00:00+01:00', 0],
  ['2026-01-31t12:00:00z', '2026-01-31T12:00:00Z', 0],
  ['2026-01-31T12:00:00-00:00', '2026-01-31T12:00:00.000Z', 0],
  ['2026-02-01T00:30:00+01:00', '2026-01-31T23:30:00.0000000000000000000001Z', -1],
  ['2026-01-31T12:00:00.1Z', '2026-01-31T12:00:00.09Z', 1],
  ['2026-01-31T12:00:00.10Z', '2026-01-31T12:00:00.1Z', 0],
  ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00Z', -1],
  ['2016-12-31T23:59:60.5Z', '2016-12-31T23:59:59.9Z', 1],
  ['1990-12-31T15:59:60-08:00', '1990-12-31T23:59:60Z', 0],
  ['0001-01-01T00:00:00Z', '1970-01-01T00:00:00Z', -1],
  ['0000-02-29T00:00:00Z', '0000-03-01T00:00:00Z', -1],
  ['2024-02-29T00:00:00Z', '2024-03-01T00:00:00Z', -1],
  ['9999-12-31T23:59:59-23:59', '0099-12-31T23:59:59Z', 1],
])('%j is ordered against %j', (left, right, order) => {
  const asked = ['gt', 'gte', 'lt', 'lte'].map((op) => holdsFor(left, op, right));
  expect(asked).toEqual([order > 0, order >= 0, order < 0, order <= 0]);
});

test.each<[JsonValue, JsonValue]>([
  ['1', 2],
  [1, '2'],
  [1, NOON],
  ['a', 'b'],
  [null, 0],
  [true, 0],
  [[1], 0],
  ['2026-01-31', '2026-02-01'],
])('%j has no order against %j', (left, right) => {
  for (const op of ['gt', 'gte', 'lt', 'lte']) expect(holdsFor(left, op, right)).toBe(false);
});

test.each([
  ...['2026-01-31T12:00:00', '2026-01-31 12:00:00Z', '2026-01-31T12:00Z', '2026-01-31T12:00:00.Z'],
  ...['2026-01-31T12:00:00+0100', '2026-01-31T12:00:00+24:00', '2026-01-31T24:00:00Z'],
  ...['2026-01-31T12:60:00Z', '2026-01-31T12:00:61Z', '2026-01-31T12:00:60Z', '2026-01-30T23:59:60Z'],
  ...['2026-02-29T12:00:00Z', '2100-02-29T12:00:00Z', '2026-04-31T12:00:00Z', '2026-13-01T12:00:00Z'],
  ...['2026-00-01T12:00:00Z', '2026-01-00T12:00:00Z', '2026-01-31T12:00:00Z\n', '+2026-01-31T12:00:00Z'],
])('%j is no time of RFC 3339', (left) => {
  for (const op of ['gt', 'gte', 'lt', 'lte']) expect(holdsFor(left, op, NOON)).toBe(false);
});

test.each<[string, JsonValue, JsonValue[], JsonValue[]]>([
  ['contains', 'b', ['abc', ['b']], ['aBc', ['abc'], [['b']], { b: 1 }, 5, null]],
  ['contains', '', ['abc', '', ['']], [[], [null], 0]],
  ['contains', 1, [[1], [2, 1.0]], ['1', ['1'], [[1]], 1, [true]]],
  ['contains', { a: [1], b: 2 }, [[0, { b: 2, a: [1] }]], [[{ a: [1] }], { a: [1], b: 2 }]],
  ['contains', null, [[null]], [null, [], 'null']],
  ['starts_with', 'ab', ['abc', 'ab'], ['cab', 'Abc', ['ab'], null]],
  ['ends_with', '2', ['12', '2'], ['21', 12, ['2']]],
  ['matches', 'rm\\s+-rf', ['sudo rm  -rf /'], ['rm-rf', ['rm -rf'], null]],
  ['matches', '^b$', ['b'], ['a\nb', 'b\n', 'B']],
  ['matches', '(?im)^b$', ['a\nB'], ['ab']],
  ['matches', '^.$', ['😀', '1'], ['', 1, 'ab']],
  ['in', [1, { a: 1, b: 2 }], [1, { b: 2, a: 1 }], ['1', true, [1], { a: 1 }]],
])('%s %j holds for %j and not for %j', (op, value, yes, no) => {
  expect(yes.filter((input) => !holdsFor(input, op, value))).toEqual([]);
  expect(no.filter((input) => holdsFor(input, op, value))).toEqual([]);
});

test('a hostile pattern on a long text takes linear time', () => {
  const started = performance.now();
  expect(matchesPattern('^(a|aa)+[bc]$', 'a'.repeat(100_000))).toBe(false);
  expect(matchesPattern('(x+x+)+[yz]$', 'x'.repeat(100_000))).toBe(false);
  expect(performance.now() - started).toBeLessThan(5_000);
});

test('all conditions must hold, and none asks for nothing', () => {
  const yes: Condition = { field: '/tool', op: 'eq', value: 'shell.run' };
  const no: Condition = { field: '/tool', op: 'neq', value: 'shell.run' };
  expect(allHold([], facts)).toBe(true);
  expect(allHold([yes, yes], facts)).toBe(true);
  expect(allHold([yes, no], facts)).toBe(false);
});

const anyJson = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>;
const maybeFacts = fc.oneof(
  fc.constant({}),
  anyJson.map((input) => ({ input })),
);
/** The same value, its members in another order. */
const reordered = (value: JsonValue): JsonValue => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(reordered);
  const members = Object.entries(value as Record<string, JsonValue>);
  return Object.fromEntries(members.reverse().map(([name, member]) => [name, reordered(member)]));
};

test('whatever is compared: neq negates eq, not_in negates in, and in agrees with eq', () => {
  const field = '/input';
  fc.assert(
    fc.property(maybeFacts, fc.array(anyJson, { minLength: 1 }), (some: ConditionFacts, values) => {
      const equal = values.map((value) => conditionHolds({ field, op: 'eq', value }, some));
      const unequal = values.map((value) => conditionHolds({ field, op: 'neq', value }, some));
      expect(unequal).toEqual(equal.map((each) => !each));
      expect(conditionHolds({ field, op: 'in', value: values }, some)).toBe(equal.includes(true));
      expect(conditionHolds({ field, op: 'not_in', value: values }, some)).toBe(!equal.includes(true));
    }),
  );
});

test('whatever the value: it equals itself in any order of members, and each element is contained', () => {
  fc.assert(
    fc.property(fc.array(anyJson), (values) => {
      expect(holdsFor(values, 'eq', reordered(values))).toBe(true);
      for (const value of values) {
        expect(holdsFor(values, 'contains', reordered(value))).toBe(true);
        expect(holdsFor(value, 'in', values)).toBe(true);
      }
    }),
  );
});

test('whatever two values are: equality is symmetric, and is that of their canonical texts', () => {
  const stringUnit = fc.constantFrom('a', 'b');
  const small = fc.jsonValue({ maxDepth: 2, stringUnit }) as fc.Arbitrary<JsonValue>;
  fc.assert(
    fc.property(small, small, (left, right) => {
      expect(holdsFor(left, 'eq', right)).toBe(canonicalJson(left) === canonicalJson(right));
      expect(holdsFor(right, 'eq', left)).toBe(holdsFor(left, 'eq', right));
    }),
    { numRuns: 1_000 },
  );
});

test('whatever two instants are: they are ordered as their milliseconds, in any offset', () => {
  const [min, max] = [new Date('0001-01-02T00:00:00Z'), new Date('9999-12-30T00:00:00Z')];
  const at = fc.date({ min, max, noInvalidDate: true });
  const instant = fc.record({ at, offset: fc.integer({ min: -1_439, max: 1_439 }) });
  const write = ({ at, offset }: { at: Date; offset: number }): string => {
    const local = new Date(at.getTime() + offset * 60_000).toISOString().slice(0, -1);
    const two = (count: number): string => String(Math.trunc(count)).padStart(2, '0');
    return `${local}${offset < 0 ? '-' : '+'}${two(Math.abs(offset) / 60)}:${two(Math.abs(offset) % 60)}`;
  };
  fc.assert(
    fc.property(instant, instant, (left, right) => {
      expect(holdsFor(write(left), 'lt', write(right))).toBe(left.at < right.at);
      expect(holdsFor(write(left), 'gte', write(right))).toBe(left.at >= right.at);
    }),
  );
});

const faultsOf = (conditions: unknown): string[] => {
  const { error } = conditionsSchema.safeParse(conditions);
  return (error?.issues ?? []).map(({ path, ...issue }) =>
    ['', ...path, ...(issue.code === 'unrecognized_keys' ? issue.keys : [])].map(String).join('/'),
  );
};
const eq = (field: unknown) => ({ field, op: 'eq', value: 1 });

test.each([
  ['no list', {}, ['']],
  ['null', [null], ['/0']],
  ['a text', ['x'], ['/0']],
  ['an empty object', [{}], ['/0/op']],
  ['an unknown operator', [{ field: '/tool', op: 'equals', value: 1 }], ['/0/op']],
  ['another case of an operator', [{ field: '/tool', op: 'EQ', value: 1 }], ['/0/op']],
  ['an operator of the language', [{ field: '/tool', op: 'toString', value: 1 }], ['/0/op']],
  ['an unknown operator on an unknown field', [{ field: '/x', op: 'no', value: 1 }], ['/0/op', '/0/field']],
  ['an unknown member', [{ ...eq('/tool'), not: true }], ['/0/not']],
  ['no field', [{ op: 'eq', value: 1 }], ['/0/field']],
  ['a field that is no text', [eq(['tool'])], ['/0/field']],
  ['no value', [{ field: '/tool', op: 'eq' }], ['/0/value']],
  ['no value for exists', [{ field: '/tool', op: 'exists' }], ['/0/value']],
  ['no field and no value', [{ op: 'matches' }], ['/0/field', '/0/value']],
  ['in nothing', [{ field: '/tool', op: 'in', value: [] }], ['/0/value']],
  ['not_in nothing', [{ field: '/tool', op: 'not_in', value: [] }], ['/0/value']],
  ['in a text', [{ field: '/tool', op: 'in', value: 'ab' }], ['/0/value']],
  ['gt a word', [{ field: '/input', op: 'gt', value: 'b' }], ['/0/value']],
  ['gte a date without a time', [{ field: '/input', op: 'gte', value: '2026-01-31' }], ['/0/value']],
  ['lt a day that is not', [{ field: '/input', op: 'lt', value: '2026-02-30T00:00:00Z' }], ['/0/value']],
  ['lte null', [{ field: '/input', op: 'lte', value: null }], ['/0/value']],
  ['starts_with a number', [{ field: '/tool', op: 'starts_with', value: 1 }], ['/0/value']],
  ['ends_with a list', [{ field: '/tool', op: 'ends_with', value: ['a'] }], ['/0/value']],
  ['a pattern that is no RE2', [{ field: '/tool', op: 'matches', value: '(?=a)' }], ['/0/value']],
  ['exists "true"', [{ field: '/tool', op: 'exists', value: 'true' }], ['/0/value']],
  ['an unfaithful value', [{ field: '/input', op: 'eq', value: [2 ** 53] }], ['/0/value']],
  ['eq twice on one field', [eq('/input/a'), eq('/tool'), eq('/input/a')], ['/2']],
  ['nine conditions', Array.from({ length: 9 }, (_, index) => eq(`/input/${index}`)), ['']],
  [
    'nine conditions with faults',
    Array.from({ length: 9 }, (_, index) => eq(index > 6 ? '/inputs' : `/input/${index}`)),
    ['/7/field', '/8/field', '', '/8'],
  ],
])('%s is refused, and each fault is told', (_, conditions, pointers) => {
  expect(faultsOf(conditions)).toEqual(pointers);
});

test.each([
  ...['', 'tool', '/', '/tools', '/tool/', '/tool/x', '/text/0', '/profile', '/profile/name'],
  ...['/profile/id/x', '/inputs', '/Input', '/thread', '/thread/id', '/thread/metadatas', '/input/~'],
  ...['/input/~2', '/input/a~', '#/input', ' /input', '/__proto__', '/input/\ud800'],
  ...[`/input/${'x'.repeat(1_018)}`],
])('%j is no field', (field) => {
  expect(faultsOf([eq(field)])).toEqual(['/0/field']);
});

test.each([
  ...['/tool', '/text', '/profile/id', '/input', '/input/', '/input/a b/~0~1/\n', '/output/0'],
  ...['/error/message', '/actor', '/thread/metadata', '/thread/metadata/team', '/input/__proto__'],
  ...[`/input/${'x'.repeat(1_017)}`],
])('%j is a field', (field) => {
  expect(faultsOf([eq(field)])).toEqual([]);
});

test('the faults are told in words', () => {
  const messages = (conditions: unknown): string[] =>
    (conditionsSchema.safeParse(conditions).error?.issues ?? []).map(({ message }) => message);
  const unknown = messages([{ field: '/x', op: 'is', value: 1 }]);
  expect(unknown[0]).toMatch(/^one of eq, neq, contains, in, .*exists$/);
  expect(unknown[1]).toContain('/thread/metadata');
  expect(messages([{ field: '/input', op: 'gt', value: 'b' }]).join()).toContain('RFC 3339');
  expect(messages([{ field: '/input', op: 'gt', value: {} }]).join()).toContain('RFC 3339');
  expect(messages([1])).toEqual(['a condition is an object']);
  const many = Array.from({ length: 12 }, (_, at) => eq(`/input/${at}`));
  expect(messages(many)).toEqual(['at most 8 conditions; these are 12']);
});

test('conditions are kept as they were sent', () => {
  const conditions = [
    { field: '/tool', op: 'in', value: ['a', null] },
    { field: '/input', op: 'eq', value: JSON.parse('{"__proto__":{"a":1}}') },
    { field: '/input', op: 'neq', value: null },
    { field: '/input/at', op: 'gt', value: '2026-01-31T12:00:00.123456789+01:00' },
    { field: '/input/n', op: 'lte', value: 5 },
    { field: '/tool', op: 'matches', value: '^shell\\.' },
    { field: '/tool', op: 'starts_with', value: '' },
    { field: '/output', op: 'exists', value: false },
  ];
  const read = conditionsSchema.safeParse(conditions);
  expect(read.error).toBeUndefined();
  expect(JSON.stringify(read.data)).toBe(JSON.stringify(conditions));
});

test.each([
  ['before_tool_call', ['/tool', '/input', '/actor', '/thread/metadata', '/profile/id']],
  ['after_tool_call', ['/tool', '/input', '/output', '/error', '/actor', '/thread/metadata', '/profile/id']],
  ['before_input', ['/text', '/actor', '/thread/metadata', '/profile/id']],
  ['after_output', ['/text', '/actor', '/thread/metadata', '/profile/id']],
] as [Point, string[]][])('%s has its fields and no others', (point, fields) => {
  const all = [
    ...['/tool', '/input', '/output', '/error', '/text', '/actor', '/thread/metadata', '/profile/id'],
    ...['/input/text', '/output/0', '/error/x'],
  ];
  const isThere = (field: string) => fields.some((root) => field === root || field.startsWith(`${root}/`));
  for (const field of all) {
    const fault = isThere(field) ? undefined : expect.stringContaining(`${point} has no /`);
    expect(fieldFaultAt(point, field)).toEqual(fault);
  }
});

test('what is wrong with a pattern is told', () => {
  const wrong = [
    'a(',
    '(?=a)',
    '(?<=a)b',
    '\\1',
    'a{1001}',
    '[z-a]',
    'x**',
    '\\',
    '(\\w{500}){2}',
    '(a{30}){30}',
  ];
  expect(wrong.filter((pattern) => patternFault(pattern) === undefined)).toEqual([]);
  expect(patternFault('[a]'.repeat(MAX_PATTERN_LENGTH / 4))).toBeUndefined();
  expect(patternFault('[]'.padEnd(MAX_PATTERN_LENGTH + 1, 'a'))).toContain('1024');
});

test('the schema drops nothing, and OpenAPI can say it', () => {
  assertDropsNothing(conditionsSchema, 'test');
  const schema = conditionsSchema.meta({ id: 'Conditions', maxItems: MAX_CONDITIONS });
  const { components } = new OpenApiGeneratorV31([{ type: 'schema', schema }]).generateComponents();
  expect(components?.schemas?.['Condition']).toMatchObject({ oneOf: expect.any(Array) });
  expect(components?.schemas?.['Conditions']).toMatchObject({ type: 'array', maxItems: 8 });
});
