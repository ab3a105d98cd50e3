import { DEFAULT_HOOKS, defaultsAfterEdit, upgradeDefaults } from '../../src/domain/default-hooks';
import { canonicalJson, subjectDigest } from '../../src/domain/digest';
import { readHookResult } from '../../src/domain/hook-result';
import { findUnfaithful } from '../../src/domain/json-value';
import { configurationInputSchema, configurationSchema } from '../../src/domain/profile-schema';
import { toolMatches, toolNameFault, toolPatternFault } from '../../src/domain/tool-pattern';

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

test.each([
  ['a lone surrogate', '\ud800', ''],
  ['a lone surrogate in a name', { a: { '\ud800': 1 } }, '/a/\ufffd'],
  ['2^53', [0, 2 ** 53], '/1'],
  ['129 levels', nested(129), '/0'.repeat(128)],
  ['a number that is not finite', JSON.parse('{"a/b":1e400}'), '/a~1b'],
])('%s is found at its pointer', (_, value, pointer) => {
  expect(findUnfaithful(value)?.pointer).toBe(pointer);
});

test.each([
  [2 ** 53 - 1],
  ['😀\u0000'],
  [nested(128)],
  [JSON.parse('{"__proto__":{"constructor":1}}')],
  [0.1],
  [null],
])('%j can be kept', (value) => {
  expect(findUnfaithful(value)).toBeUndefined();
});

test('RFC 8785: the digest depends on the value and not on its spelling', () => {
  expect(canonicalJson(JSON.parse('{"b":1.0,"a":[1e2,"\\u00e9"]}'))).toBe('{"a":[100,"é"],"b":1}');
  const digest = (value: string, tool = 't') =>
    subjectDigest({ point: 'before_tool_call', tool, value: JSON.parse(value) });
  expect(digest('{"a":1,"b":2}')).toBe(digest('{"b":2.0, "a":1e0}'));
  expect(digest('{"a":1}')).not.toBe(digest('{"a":2}'));
  expect(digest('1', 't')).not.toBe(digest('1', 'T'));
});

test.each([
  [{}],
  [null],
  [[]],
  ['allow'],
  [{ decision: 'Allow' }],
  [{ decison: 'deny' }],
  [{ decision: 'deny', updatedInput: 1 }],
  [{ decision: 'allow', updatedText: 'x' }],
  [JSON.parse('{"decision":"allow","__proto__":1}')],
  [{ decision: 'allow', reason: 'x'.repeat(4_097) }],
])('%j is not a HookResult', (body) => {
  expect(readHookResult(body, 'before_tool_call').ok).toBe(false);
});

test.each([[null], [false], [0], [''], [[]], [{}]])(
  'a rewrite to %j is a rewrite, and its absence is none',
  (value) => {
    expect(readHookResult({ decision: 'allow', updatedInput: value }, 'before_tool_call')).toEqual({
      ok: true,
      result: { decision: 'allow', rewrite: { value } },
    });
    expect(readHookResult({ decision: 'allow' }, 'before_tool_call')).toEqual({
      ok: true,
      result: { decision: 'allow' },
    });
  },
);

test('[S] billing.* matches by prefix, case-sensitive and byte for byte', () => {
  expect(['billing.refund', 'billing.eu.refund'].every((tool) => toolMatches('billing.*', tool))).toBe(true);
  expect(
    ['billing', 'billing2.x', 'Billing.refund', 'billing．refund'].some((tool) =>
      toolMatches('billing.*', tool),
    ),
  ).toBe(false);
  expect(['a*b', '**', ' x', ''].map(toolPatternFault)).not.toContain(undefined);
  expect(['', ' a', 'a\n', 'x'.repeat(257)].map(toolNameFault)).not.toContain(undefined);
  expect(['__proto__', 'constructor', 'x'.repeat(256)].map(toolNameFault)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('every fault of a profile is listed at once, each with its place', () => {
  const hook = { id: 'a', point: 'before_tool_call', processor: { type: 'client' } };
  const result = configurationInputSchema.safeParse({
    hooks: [
      hook,
      hook,
      { ...hook, id: 'b', point: 'before_lunch' },
      { ...hook, id: 'c', processor: { type: 'pigeon' } },
      { ...hook, id: 'd', match: { tools: [] } },
      { ...hook, id: 'e', extra: 1 },
    ],
  });
  expect(result.error?.issues.map(({ path }) => path.join('/')).sort()).toEqual([
    'hooks/1/id',
    'hooks/2/point',
    'hooks/3/processor/type',
    'hooks/4/match/tools',
    'hooks/5',
  ]);
});

test('defaults are stored explicitly, and what was read can be written back', () => {
  const hooks = [{ id: 'a', point: 'before_tool_call', processor: { type: 'client' } }];
  const stored = configurationInputSchema.parse({ hooks });
  expect(stored.hooks?.[0]).toMatchObject({
    onFailure: 'fail_closed',
    mode: 'enforce',
    processor: { asyncTimeoutMs: 86_400_000, minApprovals: 1, allowSelfApproval: false },
  });
  expect(configurationSchema.parse(stored)).toEqual(stored);
});

test('[S] an upgrade adds only ids that the profile never had and its owner never removed', () => {
  const newer = {
    version: 2,
    hooks: [...DEFAULT_HOOKS.hooks, { ...DEFAULT_HOOKS.hooks[0]!, id: 'default:new' }],
  };
  const hooks = DEFAULT_HOOKS.hooks.slice(1);
  const defaults = defaultsAfterEdit({ version: 1, removed: [] }, { from: DEFAULT_HOOKS.hooks, to: hooks });
  expect(defaults.removed).toEqual(['default:payments']);
  const profile = {
    id: 'p',
    name: 'p',
    version: 1,
    createdAt: '',
    updatedAt: '',
    defaults,
    configuration: { hooks: [...hooks], timeouts: { outputTimeoutMs: 1_000 } },
  };
  expect(upgradeDefaults(profile, newer)).toMatchObject({ kind: 'upgraded', added: ['default:new'] });
  expect(upgradeDefaults({ ...profile, defaults: { ...defaults, version: 2 } }, newer).kind).toBe('current');
});
