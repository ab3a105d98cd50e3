import fc from 'fast-check';
import { rawDataMember, readFaithful } from '../../src/coder/tool-input';

test.each([
  ['a repeated name', '{"a":1,"a":2}', /repeated at \/a/],
  ['a repeated name, spelt otherwise', '{"a":1,"\\u0061":2}', /repeated/],
  ['names that differ in case', '{"path":1,"Path":2}', /case at \/Path/],
  ['names that differ in case, deep inside', '{"edits":[{"Old":1,"old":2}]}', /case at \/edits\/0\/old/],
  ['the long s', '{"s":1,"\u017f":2}', /case/],
  ['the Kelvin sign', '{"k":1,"\u212a":2}', /case/],
  ['an integer that would change', '{"n":9007199254740993}', /2\^53/],
  ['a lone surrogate', '{"t":"\\ud800"}', /surrogate/],
  ['129 levels', `${'['.repeat(129)}${']'.repeat(129)}`, /deep/],
  ['more than 1 MiB', JSON.stringify('x'.repeat(1_048_577)), /larger/],
])('%s cannot be judged as it is', (_what, raw, problem) => {
  expect(readFaithful(raw)).toEqual({ ok: false, problem: expect.stringMatching(problem) });
});

test.each(['null', '0', '""', '[]', '{"A":{"a":1},"B":{"a":1}}', '{"__proto__":{"x":1}}'])(
  '%s is kept as it is',
  (raw) => {
    expect(readFaithful(raw)).toEqual({ ok: true, value: JSON.parse(raw) });
  },
);

test('the text of a member is found as it was sent, wherever it stands and whatever stands around it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.nat(3), (input, other, spaces) => {
      const raw = JSON.stringify(input, null, spaces);
      const text = `{ "meta":${JSON.stringify(other)} , "data" : {"a":[${JSON.stringify(other)}],"tool_input": ${raw} ,"b":"}"} }`;
      expect(rawDataMember(text, 'tool_input')).toBe(raw);
    }),
  );
  expect(rawDataMember('{"data":{"tool_input":1,"tool_input":{"last":true}}}', 'tool_input')).toBe(
    '{"last":true}',
  );
  expect(rawDataMember('{"data":{}}', 'tool_input')).toBeUndefined();
  expect(rawDataMember('{"data":[]}', 'tool_input')).toBeUndefined();
});
