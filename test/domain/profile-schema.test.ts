import {
  configurationInputSchema,
  configurationSchema,
  profileNameSchema,
} from '../../src/domain/profile-schema';
import { MAX_HOOKS, MAX_WAIT_MS } from '../../src/domain/hook-limits';
import { DEFAULT_HOOKS } from '../../src/domain/default-hooks';

const client = (more: object = {}) => ({ type: 'client', ...more });
const hook = (more: object = {}) => ({ id: 'a', point: 'before_tool_call', processor: client(), ...more });

const faultsOf = (configuration: unknown): string[] => {
  const { error } = configurationInputSchema.safeParse(configuration);
  return (error?.issues ?? []).map(({ path, ...issue }) =>
    ['', ...path, ...(issue.code === 'unrecognized_keys' ? issue.keys : [])].map(String).join('/'),
  );
};
const faultsOfHook = (more: object): string[] => faultsOf({ hooks: [hook(more)] });

const owners = (count: number): string[] => Array.from({ length: count }, (_, index) => `o${index}`);

test.each([
  ['an unknown point', { point: 'before_lunch' }, ['/hooks/0/point']],
  ['tools at a text point', { point: 'after_output', match: { tools: ['x'] } }, ['/hooks/0/match/tools']],
  [
    'a field that the point does not have',
    { point: 'before_input', match: { where: [{ field: '/tool', op: 'eq', value: 'x' }] } },
    ['/hooks/0/match/where/0/field'],
  ],
  ['an unknown processor', { processor: { type: 'pigeon' } }, ['/hooks/0/processor/type']],
  ['an agent without its profile', { processor: { type: 'agent' } }, ['/hooks/0/processor/profileId']],
  [
    'a review that may take longer at once than in all',
    { processor: { type: 'agent', profileId: 'p', timeoutMs: 5_000, asyncTimeoutMs: 4_000 } },
    ['/hooks/0/processor/asyncTimeoutMs'],
  ],
  ['no processor', { processor: undefined }, ['/hooks/0/processor']],
  ['an unknown key', { extra: 1 }, ['/hooks/0/extra']],
  ['an unknown key of match', { match: { tool: ['x'] } }, ['/hooks/0/match/tool']],
  ['an unknown key of the processor', { processor: client({ url: 'x' }) }, ['/hooks/0/processor/url']],
  ['an empty id', { id: '' }, ['/hooks/0/id']],
  ['an id with a space', { id: 'a b' }, ['/hooks/0/id']],
  ['an id with a line break at its end', { id: 'a\n' }, ['/hooks/0/id']],
  ['an id that is too long', { id: 'x'.repeat(129) }, ['/hooks/0/id']],
  ['an empty list of tools', { match: { tools: [] } }, ['/hooks/0/match/tools']],
  ['65 tools', { match: { tools: owners(65) } }, ['/hooks/0/match/tools']],
  ['a wildcard that is not last', { match: { tools: ['ok', 'a*b'] } }, ['/hooks/0/match/tools/1']],
  ['two wildcards', { match: { tools: ['**'] } }, ['/hooks/0/match/tools/0']],
  ['an empty tool', { match: { tools: [''] } }, ['/hooks/0/match/tools/0']],
  ['a tool that is no text', { match: { tools: [1] } }, ['/hooks/0/match/tools/0']],
  ['match of null', { match: null }, ['/hooks/0/match']],
  ['another onFailure', { onFailure: 'fail-open' }, ['/hooks/0/onFailure']],
  ['another mode', { mode: 'Observe' }, ['/hooks/0/mode']],
  ['a time-out of zero', { processor: client({ asyncTimeoutMs: 0 }) }, ['/hooks/0/processor/asyncTimeoutMs']],
  [
    'more than 24 hours',
    { processor: client({ asyncTimeoutMs: 86_400_001 }) },
    ['/hooks/0/processor/asyncTimeoutMs'],
  ],
  [
    'half a millisecond',
    { processor: client({ asyncTimeoutMs: 1.5 }) },
    ['/hooks/0/processor/asyncTimeoutMs'],
  ],
  [
    'a time-out as text',
    { processor: client({ asyncTimeoutMs: '1000' }) },
    ['/hooks/0/processor/asyncTimeoutMs'],
  ],
  ['an empty title', { processor: client({ title: '' }) }, ['/hooks/0/processor/title']],
  [
    'no approvers',
    { processor: client({ approvers: [] }) },
    ['/hooks/0/processor/approvers', '/hooks/0/processor/minApprovals'],
  ],
  [
    'an approver with a space',
    { processor: client({ approvers: ['ann', 'b c'] }) },
    ['/hooks/0/processor/approvers/1'],
  ],
  [
    'an unknown scope',
    { processor: client({ approvers: ['scope:root'] }) },
    ['/hooks/0/processor/approvers/0'],
  ],
  [
    'an approver twice',
    { processor: client({ approvers: ['ann', 'ann'] }) },
    ['/hooks/0/processor/approvers'],
  ],
  ['no approvals needed', { processor: client({ minApprovals: 0 }) }, ['/hooks/0/processor/minApprovals']],
  [
    'more approvals than named approvers',
    { processor: client({ approvers: ['ann', 'bob'], minApprovals: 3 }) },
    ['/hooks/0/processor/minApprovals'],
  ],
  [
    'allowSelfApproval as text',
    { processor: client({ allowSelfApproval: 'no' }) },
    ['/hooks/0/processor/allowSelfApproval'],
  ],
])('a hook with %s is refused at its place', (_, more, expected) => {
  expect(faultsOfHook(more)).toEqual(expected);
});

test('__proto__ is an unknown key like any other, at every depth', () => {
  const text = JSON.stringify({ hooks: [hook()], timeouts: {} });
  const sent = (before: string): unknown => JSON.parse(text.replace(before, `"__proto__":{},${before}`));
  expect(faultsOf(sent('"hooks"'))).toEqual(['/__proto__']);
  expect(faultsOf(sent('"id"'))).toEqual(['/hooks/0/__proto__']);
  expect(faultsOf(sent('"type"'))).toEqual(['/hooks/0/processor/__proto__']);
});

test('quorums that can be met are accepted: as many as are named, or more where a scope is named', () => {
  expect(faultsOfHook({ processor: client({ approvers: ['ann', 'bob'], minApprovals: 2 }) })).toEqual([]);
  expect(faultsOfHook({ processor: client({ approvers: ['ann', 'scope:read'], minApprovals: 5 }) })).toEqual(
    [],
  );
  expect(faultsOfHook({ processor: client({ minApprovals: 64 }) })).toEqual([]);
});

test('[S] sixteen hooks are accepted and a seventeenth is refused', () => {
  const many = (count: number) => ({ hooks: owners(count).map((id) => hook({ id })) });
  expect(faultsOf(many(MAX_HOOKS))).toEqual([]);
  expect(faultsOf(many(MAX_HOOKS + 1))).toEqual(['/hooks']);
});

test('each repeated id is refused where it repeats; another case is another id', () => {
  const ids = ['a', 'b', 'a', 'A', 'b', 'a'];
  expect(faultsOf({ hooks: ids.map((id) => hook({ id })) })).toEqual([
    '/hooks/2/id',
    '/hooks/4/id',
    '/hooks/5/id',
  ]);
});

test('nothing is skipped quietly: every fault of a profile is listed at once', () => {
  const faults = faultsOf({
    hooks: [
      hook(),
      hook(),
      hook({ id: 'b', point: 'before_lunch', match: { tools: ['*x'] } }),
      hook({ id: 'c', processor: { type: 'pigeon' } }),
      hook({
        id: 'd',
        processor: client({ approvers: ['x', 'x', '?'], minApprovals: 5, asyncTimeoutMs: 0 }),
      }),
      'no hook',
      ...owners(11).map((id) => hook({ id })),
    ],
    timeouts: { outputTimeoutMs: 1, extra: 1 },
    model: {},
    notifications: {},
  });
  expect(faults.sort()).toEqual(
    [
      '/hooks',
      '/hooks/1/id',
      '/hooks/2/point',
      '/hooks/2/match/tools/0',
      '/hooks/3/processor/type',
      '/hooks/4/processor/approvers',
      '/hooks/4/processor/approvers/2',
      '/hooks/4/processor/asyncTimeoutMs',
      '/hooks/4/processor/minApprovals',
      '/hooks/5',
      '/model/baseUrl',
      '/model/name',
      '/notifications',
      '/timeouts/extra',
      '/timeouts/outputTimeoutMs',
    ].sort(),
  );
});

test.each([
  [null],
  [[]],
  ['hooks'],
  [{ hooks: null }],
  [{ hooks: {} }],
  [{ permissions: {} }],
  [{ unmatchedTools: 'maybe' }],
  [{ Hooks: [] }],
])('%j is no configuration', (sent) => {
  expect(faultsOf(sent)).not.toEqual([]);
});

test('defaults are written out, so that what is read is the whole truth', () => {
  expect(configurationInputSchema.parse({ hooks: [hook()] })).toStrictEqual({
    hooks: [
      {
        id: 'a',
        point: 'before_tool_call',
        processor: { type: 'client', asyncTimeoutMs: MAX_WAIT_MS, minApprovals: 1, allowSelfApproval: false },
        onFailure: 'fail_closed',
        mode: 'enforce',
      },
    ],
    permissions: [],
    unmatchedTools: 'allow',
    tools: [],
    timeouts: { outputTimeoutMs: 3_600_000, approvalGrantTtlMs: 3_600_000 },
  });
});

test('[S] no hooks member and an empty list are not the same', () => {
  expect(configurationInputSchema.parse({}).hooks).toBeUndefined();
  expect(configurationInputSchema.parse({ hooks: [] }).hooks).toEqual([]);
  expect(configurationSchema.safeParse({}).success).toBe(false);
});

test('what was read can be written back, unchanged, the default hooks too', () => {
  const sent = {
    hooks: [
      hook({
        match: { tools: ['__proto__', 'billing.*', '*'] },
        mode: 'observe',
        onFailure: 'fail_open',
        processor: client({
          title: 't',
          approvers: ['ann', 'scope:admin'],
          minApprovals: 2,
          asyncTimeoutMs: 1,
        }),
      }),
      ...DEFAULT_HOOKS.hooks,
    ],
    timeouts: { outputTimeoutMs: 86_400_000 },
  };
  const stored = configurationInputSchema.parse(sent);
  expect(stored.hooks?.slice(1)).toStrictEqual([...DEFAULT_HOOKS.hooks]);
  expect(configurationSchema.parse(stored)).toStrictEqual(stored);
  expect(configurationInputSchema.parse(stored)).toStrictEqual(stored);
});

test('a name is text of 1 to 128 characters without outer white space', () => {
  expect(profileNameSchema.parse('  p ')).toBe('p');
  expect(['', '  ', 'x'.repeat(129), 1].map((name) => profileNameSchema.safeParse(name).success)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
