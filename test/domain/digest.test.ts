import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { canonicalJson, sha256Hex, subjectDigest } from '../../src/domain/digest';
import type { JsonValue } from '../../src/domain/json-value';
import { fitsInline, MAX_INLINE_BYTES } from '../../src/domain/subject';
import { requestDigest } from '../../src/domain/call';

const parse = (text: string): JsonValue => JSON.parse(text) as JsonValue;
const digest = (value: string, tool = 't'): string =>
  subjectDigest({ point: 'before_tool_call', tool, value: parse(value) });

test('RFC 8785, section 3.2.2: the example document', () => {
  const sent = String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`;
  expect(canonicalJson(parse(sent))).toBe(
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
});

test('RFC 8785, section 3.2.3: names are sorted by UTF-16 code units', () => {
  const sent = String.raw`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`;
  expect([...canonicalJson(parse(sent)).matchAll(/:(\d)/g)].map(([, place]) => place).join('')).toBe(
    '2467153',
  );
});

test.each([
  [0, '0'],
  [-0, '0'],
  [5e-324, '5e-324'],
  [-5e-324, '-5e-324'],
  [9007199254740991, '9007199254740991'],
  [1e23, '1e+23'],
  [0.000001, '0.000001'],
  [Number('333333333.33333325'), '333333333.33333325'],
  [Number('-0.0000033333333333333333'), '-0.0000033333333333333333'],
  [Number('1424953923781206.2'), '1424953923781206.2'],
])('RFC 8785, appendix B: the number %d', (value, text) => {
  expect(canonicalJson(value)).toBe(text);
});

test('names of the language are ordinary members', () => {
  const sent = '{"toJSON":1,"__proto__":{"b":1,"a":2},"constructor":[]}';
  expect(canonicalJson(parse(sent))).toBe('{"__proto__":{"a":2,"b":1},"constructor":[],"toJSON":1}');
  expect(digest('{"__proto__":1}')).not.toBe(digest('{}'));
});

test('a digest depends on the value and not on how it was spelled or ordered', () => {
  expect(digest('{"a":1,"b":[2,"\\u00e9"]}')).toBe(digest('{ "b":[2.0,"é"], "a":1e0 }'));
  const shuffled = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })).chain((value) =>
    fc.record({
      value: fc.constant(value),
      order: fc.shuffledSubarray(Object.keys(value), { minLength: Object.keys(value).length }),
    }),
  );
  fc.assert(
    fc.property(shuffled, ({ value, order }) => {
      const other = Object.fromEntries(order.map((key) => [key, value[key]]));
      expect(canonicalJson(other as JsonValue)).toBe(canonicalJson(value as JsonValue));
    }),
  );
});

test('a digest tells values, tools and points apart', () => {
  const variants = [
    digest('1'),
    digest('"1"'),
    digest('[1]'),
    digest('null'),
    digest('{}'),
    digest('[]'),
    digest('1', 'T'),
    digest('1', 't '),
    subjectDigest({ point: 'before_tool_call', value: 1 }),
    subjectDigest({ point: 'after_tool_call', tool: 't', value: 1 }),
    subjectDigest({ point: 'before_tool_call', value: { tool: 't', value: 1 } }),
    digest('"é"'),
    digest('"e\u0301"'),
  ];
  expect(new Set(variants).size).toBe(variants.length);
});

test('a subject digest is SHA-256 over the canonical { point, tool, value }, as anybody can compute it', () => {
  const text = '{"point":"before_tool_call","tool":"pay","value":{"a":1,"b":"€"}}';
  expect(subjectDigest({ point: 'before_tool_call', tool: 'pay', value: { b: '€', a: 1 } })).toBe(
    createHash('sha256').update(text, 'utf8').digest('hex'),
  );
  expect(sha256Hex('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
});

test('a request digest covers all that a caller may change under one Idempotency-Key', () => {
  const request = { tool: 't', input: { a: 1, b: 2 }, execution: 'caller' };
  const variants = [
    request,
    { ...request, tool: 'u' },
    { ...request, input: { a: 1 } },
    { ...request, execution: 'server' },
    { ...request, toolUseId: 'x' },
    { ...request, actor: 'x' },
    { ...request, actor: null },
  ].map(requestDigest);
  expect(new Set(variants).size).toBe(variants.length);
  expect(requestDigest({ ...request, input: { b: 2, a: 1 } })).toBe(requestDigest(request));
});

test('64 KiB of canonical JSON travel inline, and one byte more does not', () => {
  expect(fitsInline('x'.repeat(MAX_INLINE_BYTES - 2))).toBe(true);
  expect(fitsInline('x'.repeat(MAX_INLINE_BYTES - 1))).toBe(false);
  expect(fitsInline('€'.repeat(21_844))).toBe(true);
  expect(fitsInline('€'.repeat(21_845))).toBe(false);
});
