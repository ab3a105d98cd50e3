import fc from 'fast-check';
import { DEFAULT_HOOKS, defaultsAfterEdit, upgradeDefaults } from '../../src/domain/default-hooks';
import type { Hook } from '../../src/domain/hook';
import type { DefaultsTaken, Profile } from '../../src/domain/profile';
import { placedHook } from './fixtures';

const hookNamed = (id: string): Hook => ({ ...placedHook(0).hook, id });

const profileWith = (hooks: readonly Hook[], defaults?: DefaultsTaken): Profile => ({
  id: 'p',
  name: 'p',
  version: 1,
  createdAt: '',
  updatedAt: '',
  configuration: {
    hooks: [...hooks],
    permissions: [],
    unmatchedTools: 'allow' as const,
    tools: [],
    timeouts: { outputTimeoutMs: 1_000, approvalGrantTtlMs: 3_600_000 },
  },
  ...(defaults !== undefined && { defaults }),
});

const added = (id: string): Hook => ({ ...hookNamed(`default:${id}`), mode: 'observe' });
const NEWER = { version: 2, hooks: [added('first'), ...DEFAULT_HOOKS.hooks, added('last')] };

test('[S] the six default hooks, by id and tools', () => {
  expect(DEFAULT_HOOKS.version).toBe(1);
  expect(DEFAULT_HOOKS.hooks.map(({ id, match }) => [id, match?.tools])).toEqual([
    ['default:payments', ['payments.*', 'billing.*', 'stripe.*']],
    ['default:messages', ['email.*', 'sms.*', 'slack.*', 'messages.*']],
    [
      'default:deletion',
      ['files.delete', 'database.drop', 'database.delete', 'storage.delete', 'repo.delete'],
    ],
    [
      'default:execution',
      ['shell.*', 'code.*', 'terminal.*', 'Bash', 'bash', 'Shell', 'shell', 'execute', 'run_shell_command'],
    ],
    ['default:deployment', ['deploy.*', 'infra.*', 'kubernetes.*', 'terraform.*']],
    ['default:access', ['iam.*', 'secrets.*', 'users.*', 'permissions.*']],
  ]);
});

test('[S] every default hook waits for a person for up to 24 hours and fails closed', () => {
  for (const { processor, ...hook } of DEFAULT_HOOKS.hooks) {
    expect(hook).toMatchObject({ point: 'before_tool_call', onFailure: 'fail_closed', mode: 'enforce' });
    expect(processor).toEqual({
      type: 'client',
      asyncTimeoutMs: 86_400_000,
      title: expect.any(String),
      minApprovals: 1,
      allowSelfApproval: false,
    });
  }
});

test('[S] a newer set reaches a profile that took the defaults: new ids are appended, in the set’s order', () => {
  const own = hookNamed('mine');
  const upgrade = upgradeDefaults(
    profileWith([...DEFAULT_HOOKS.hooks, own], { version: 1, removed: [] }),
    NEWER,
  );
  expect(upgrade).toEqual({
    kind: 'upgraded',
    added: ['default:first', 'default:last'],
    hooks: [...DEFAULT_HOOKS.hooks, own, added('first'), added('last')],
    defaults: { version: 2, removed: [] },
  });
});

test('[S] what an owner wrote under a reserved id is never touched', () => {
  const authored = { ...hookNamed('default:first'), onFailure: 'fail_open' as const };
  const upgrade = upgradeDefaults(profileWith([authored], { version: 1, removed: [] }), NEWER);
  if (upgrade.kind !== 'upgraded') throw new Error(upgrade.kind);
  expect(upgrade.hooks[0]).toBe(authored);
  expect(upgrade.added).not.toContain('default:first');
});

test('an id that its owner removed does not come back', () => {
  const removed = ['default:first', 'default:payments'];
  const upgrade = upgradeDefaults(profileWith([], { version: 1, removed }), NEWER);
  expect(upgrade).toMatchObject({ kind: 'upgraded', defaults: { version: 2, removed } });
  if (upgrade.kind === 'upgraded') expect(upgrade.added).toHaveLength(NEWER.hooks.length - 2);
});

test('a profile with its own list, with this set or with a later one is left alone', () => {
  expect(upgradeDefaults(profileWith([]), NEWER)).toEqual({ kind: 'not_following' });
  expect(upgradeDefaults(profileWith([], { version: 2, removed: [] }), NEWER)).toEqual({ kind: 'current' });
  expect(upgradeDefaults(profileWith([], { version: 3, removed: [] }), NEWER)).toEqual({ kind: 'current' });
});

test('a profile that would pass sixteen hooks is left and reported; one that reaches sixteen is not', () => {
  const others = (count: number) => Array.from({ length: count }, (_, index) => hookNamed(`h${index}`));
  const upgrade = (count: number) =>
    upgradeDefaults(
      profileWith([...DEFAULT_HOOKS.hooks, ...others(count)], { version: 1, removed: [] }),
      NEWER,
    );
  expect(upgrade(8).kind).toBe('upgraded');
  expect(upgrade(9)).toEqual({ kind: 'too_many_hooks', missing: ['default:first', 'default:last'] });
});

test('defaultsAfterEdit: a default that is taken out is remembered, one that is put back is forgotten', () => {
  const [payments, messages] = DEFAULT_HOOKS.hooks;
  if (payments === undefined || messages === undefined) throw new Error('there are six');
  const own = hookNamed('mine');
  const without = defaultsAfterEdit(
    { version: 1, removed: [] },
    { from: [payments, messages, own], to: [messages] },
  );
  expect(without).toEqual({ version: 1, removed: ['default:payments'] });
  const emptied = defaultsAfterEdit(without, { from: [messages], to: [] });
  expect(emptied.removed).toEqual(['default:messages', 'default:payments']);
  expect(defaultsAfterEdit(emptied, { from: [], to: [payments] })).toEqual({
    version: 1,
    removed: ['default:messages'],
  });
});

test('after any edits an upgrade adds only what was never there, and again adds nothing', () => {
  const ids = fc.subarray([...NEWER.hooks.map(({ id }) => id), 'mine', 'other']);
  fc.assert(
    fc.property(fc.array(ids, { maxLength: 6 }), (edits) => {
      const had = new Set(DEFAULT_HOOKS.hooks.map(({ id }) => id));
      let hooks: readonly Hook[] = DEFAULT_HOOKS.hooks;
      let defaults: DefaultsTaken = { version: 1, removed: [] };
      for (const edit of edits) {
        const to = edit.map(hookNamed);
        defaults = defaultsAfterEdit(defaults, { from: hooks, to });
        hooks = to;
        for (const id of edit) had.add(id);
      }
      const upgrade = upgradeDefaults(profileWith(hooks, defaults), NEWER);
      if (upgrade.kind !== 'upgraded') throw new Error(upgrade.kind);
      expect(upgrade.added).toEqual(NEWER.hooks.map(({ id }) => id).filter((id) => !had.has(id)));
      expect(upgrade.hooks.slice(0, hooks.length)).toEqual(hooks);
      expect(new Set(upgrade.hooks.map(({ id }) => id)).size).toBe(upgrade.hooks.length);
      expect(upgradeDefaults(profileWith(upgrade.hooks, upgrade.defaults), NEWER).kind).toBe('current');
    }),
  );
});
