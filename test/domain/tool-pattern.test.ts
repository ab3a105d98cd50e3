import fc from 'fast-check';
import { hooksAt, hooksForTool } from '../../src/domain/hook';
import { pinProfile } from '../../src/domain/profile';
import { MAX_TOOL_NAME, toolMatches, toolNameFault, toolPatternFault } from '../../src/domain/tool-pattern';
import { placedHook } from './fixtures';

test.each([
  ['billing.*', 'billing.refund', true],
  ['billing.*', 'billing.eu.refund', true],
  ['billing.*', 'billing.', true],
  ['billing.*', 'billing', false],
  ['billing.*', 'billing2.x', false],
  ['billing.*', 'Billing.refund', false],
  ['billing.*', 'my.billing.refund', false],
  ['billing.*', 'billing\uff0erefund', false],
  ['billing.*', 'b\u0456lling.refund', false],
  ['pay.\u00e9', 'pay.e\u0301', false],
  ['bash', 'bash', true],
  ['bash', 'Bash', false],
  ['bash', 'bash ', false],
  ['bash', 'bash.x', false],
  ['*', 'constructor', true],
  ['*', '__proto__', true],
  ['__proto__', '__proto__', true],
  ['toString', 'tostring', false],
  ['a.b', 'a1b', false],
])('[S] the pattern %j against the tool %j: %j', (pattern, tool, expected) => {
  expect(toolMatches(pattern, tool)).toBe(expected);
});

test('a pattern without * matches its own name only, one with * all that begin with the prefix', () => {
  const name = fc.string({ unit: fc.constantFrom('a', 'A', '.', '_', 'é'), minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(name, name, (one, other) => {
      expect(toolMatches(one, other)).toBe(one === other);
      expect(toolMatches(`${one}*`, one + other)).toBe(true);
      expect(toolMatches(`${one}*`, other)).toBe(other.startsWith(one));
    }),
  );
});

test.each(['a*b', '*a', '**', 'a**', ' x', 'x ', '', ' *', 'a\u0000*', 'a\n', 'x'.repeat(257)])(
  'the pattern %j is refused',
  (pattern) => {
    expect(toolPatternFault(pattern)).toEqual(expect.any(String));
  },
);

test.each(['*', 'a*', 'billing.*', 'x'.repeat(256), 'constructor', '__proto__', '付款.*', 'a b'])(
  'the pattern %j is accepted',
  (pattern) => {
    expect(toolPatternFault(pattern)).toBeUndefined();
  },
);

test.each(['', ' a', 'a ', '\u00a0a', 'a\ufeff', 'a\nb', '\u0000', 'a\u007f', 'a\u0085b', '😀'.repeat(257)])(
  'the tool name %j is refused',
  (name) => {
    expect(toolNameFault(name)).toEqual(expect.any(String));
  },
);

test.each(['a', 'constructor', '__proto__', 'toString', 'a b', '😀'.repeat(MAX_TOOL_NAME), '付款', '*'])(
  'the tool name %j is accepted',
  (name) => {
    expect(toolNameFault(name)).toBeUndefined();
  },
);

test('a call is pinned to the hooks of its tool, each with its place in the profile', () => {
  const hooks = [undefined, ['pay.*'], ['mail.*', 'pay.eu'], []].map((tools, index) => ({
    ...placedHook(index).hook,
    ...(tools !== undefined && { match: { tools } }),
  }));
  const places = (tool: string): number[] => hooksForTool(hooks, tool).map(({ index }) => index);
  expect(places('pay.eu')).toEqual([0, 1, 2]);
  expect(places('pay.us')).toEqual([0, 1]);
  expect(places('mail.send')).toEqual([0, 2]);
  expect(places('__proto__')).toEqual([0]);
  const profile = {
    id: 'p',
    name: 'n',
    version: 7,
    configuration: {
      hooks,
      permissions: [],
      unmatchedTools: 'allow' as const,
      tools: [],
      timeouts: { outputTimeoutMs: 1_000, approvalGrantTtlMs: 3_600_000 },
    },
    createdAt: '',
    updatedAt: '',
  };
  expect(pinProfile(profile, 'pay.us')).toEqual({
    id: 'p',
    version: 7,
    hooks: [
      { index: 0, hook: hooks[0] },
      { index: 1, hook: hooks[1] },
    ],
    timeouts: { outputTimeoutMs: 1_000, approvalGrantTtlMs: 3_600_000 },
  });
  expect(hooksAt(hooksForTool(hooks, 'pay.eu'), 'after_tool_call')).toEqual([]);
});
