import fc from 'fast-check';
import { escapePointerToken, findUnfaithful, MAX_JSON_DEPTH } from '../../src/domain/json-value';

const nested = (levels: number, inner = ''): unknown =>
  JSON.parse('['.repeat(levels) + inner + ']'.repeat(levels));

test.each([
  ['a lone surrogate', '\ud800', ''],
  ['a lone low surrogate in a list', ['ok', 'x\udc00'], '/1'],
  ['a lone surrogate in a name', { a: { '\ud800': 1 } }, '/a/\ufffd'],
  ['2^53', [0, 2 ** 53], '/1'],
  ['-(2^53)', { n: -(2 ** 53) }, '/n'],
  ['a number that is not finite', JSON.parse('{"a/b":{"m~n":1e400}}'), '/a~1b/m~0n'],
  ['an integer that only looks like a decimal', JSON.parse('[1e21]'), '/0'],
  ['129 levels', nested(129), '/0'.repeat(128)],
  ['129 levels of objects', JSON.parse('{"a":'.repeat(129) + '1' + '}'.repeat(129)), '/a'.repeat(128)],
  ['undefined', { a: undefined }, '/a'],
  ['a bigint', 1n, ''],
  ['a function', () => 1, ''],
  ['a fault below __proto__', JSON.parse('{"__proto__":[1e999]}'), '/__proto__/0'],
])('%s cannot be kept, and is found at its pointer', (_, value, pointer) => {
  expect(findUnfaithful(value)).toEqual({ pointer, problem: expect.any(String) });
});

test.each([
  ['2^53-1', 2 ** 53 - 1],
  ['-(2^53-1)', -(2 ** 53 - 1)],
  ['a pair of surrogates and a null character', '😀\u0000'],
  ['128 levels', nested(MAX_JSON_DEPTH)],
  ['128 levels around a scalar', nested(MAX_JSON_DEPTH, '1')],
  [
    'names of the language',
    JSON.parse('{"__proto__":{"constructor":1},"toString":null,"hasOwnProperty":[]}'),
  ],
  ['decimals', [0.1, 5e-324, 1.7976931348623157e-300]],
  ['minus zero', -0],
  ['an empty name', { '': [] }],
  ['null', null],
  ['booleans', [true, false]],
])('%s can be kept', (_, value) => {
  expect(findUnfaithful(value)).toBeUndefined();
});

test('a hostile depth is refused without exhausting the stack', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 200_000; level += 1) deep = [deep];
  expect(findUnfaithful(deep)?.problem).toContain('128');
});

test('whatever is found faithful is the same after JSON, and what JSON makes is faithful where its parts are', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' }), (value) => {
      if (findUnfaithful(value) === undefined) {
        expect(JSON.stringify(JSON.parse(JSON.stringify(value)))).toBe(JSON.stringify(value));
      } else {
        expect(JSON.stringify(value)).toMatch(/\\ud[89a-f]|\d{16}|e\+/i);
      }
    }),
  );
});

test('RFC 6901: ~ and / of a name are escaped, in an order that can be undone', () => {
  expect(escapePointerToken('~1/~0')).toBe('~01~1~00');
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('~', '/', '0', '1', 'a') }), (token) => {
      expect(escapePointerToken(token).replaceAll('~1', '/').replaceAll('~0', '~')).toBe(token);
    }),
  );
});
