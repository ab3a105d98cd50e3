import { MAX_HOOKS, MAX_WAIT_MS } from './hook-limits';
import type { DefaultsTaken, Profile } from './profile';
import type { Hook } from './hook-schema';

/** A published set of default hooks. Its version grows when an id is added. */
export interface DefaultHookSet {
  readonly version: number;
  readonly hooks: readonly Hook[];
}

const RESERVED_PREFIX = 'default:';

function approvalHook(id: string, title: string, tools: string[]): Hook {
  return {
    id: RESERVED_PREFIX + id,
    point: 'before_tool_call',
    match: { tools },
    processor: {
      type: 'client',
      asyncTimeoutMs: MAX_WAIT_MS,
      title,
      minApprovals: 1,
      allowSelfApproval: false,
    },
    onFailure: 'fail_closed',
    mode: 'enforce',
  };
}

export const DEFAULT_HOOKS: DefaultHookSet = {
  version: 1,
  hooks: [
    approvalHook('payments', 'Moves money', ['payments.*', 'billing.*', 'stripe.*']),
    approvalHook('messages', 'Sends a message', ['email.*', 'sms.*', 'slack.*', 'messages.*']),
    approvalHook('deletion', 'Deletes data', [
      'files.delete',
      'database.drop',
      'database.delete',
      'storage.delete',
      'repo.delete',
    ]),
    approvalHook('execution', 'Runs code', [
      'shell.*',
      'code.*',
      'terminal.*',
      'Bash',
      'bash',
      'Shell',
      'shell',
      'execute',
      'run_shell_command',
    ]),
    approvalHook('deployment', 'Changes infrastructure', [
      'deploy.*',
      'infra.*',
      'kubernetes.*',
      'terraform.*',
    ]),
    approvalHook('access', 'Changes who has access', ['iam.*', 'secrets.*', 'users.*', 'permissions.*']),
  ],
};

/**
 * What to remember about the defaults after an owner's edit: reserved ids that the edit took out are removed for
 * good, ids that it put back are no longer removed.
 */
export function defaultsAfterEdit(
  before: DefaultsTaken,
  edit: { from: readonly Hook[]; to: readonly Hook[] },
): DefaultsTaken {
  const kept = new Set(edit.to.map(({ id }) => id));
  const gone = edit.from.map(({ id }) => id).filter((id) => id.startsWith(RESERVED_PREFIX));
  const removed = new Set([...before.removed, ...gone].filter((id) => !kept.has(id)));
  return { version: before.version, removed: [...removed].sort() };
}

export type DefaultsUpgrade =
  | { readonly kind: 'not_following' }
  | { readonly kind: 'current' }
  | { readonly kind: 'too_many_hooks'; readonly missing: readonly string[] }
  | {
      readonly kind: 'upgraded';
      readonly added: readonly string[];
      readonly hooks: readonly Hook[];
      readonly defaults: DefaultsTaken;
    };

/**
 * Brings a profile that took the defaults up to a newer set: the ids that it never had and never removed are
 * appended in the set's order. What stands under a reserved id is never touched, and nothing happens by halves: a
 * profile that would pass 16 hooks is left as it is.
 */
export function upgradeDefaults(profile: Profile, set: DefaultHookSet): DefaultsUpgrade {
  const { defaults } = profile;
  if (defaults === undefined) return { kind: 'not_following' };
  if (defaults.version >= set.version) return { kind: 'current' };
  const { hooks } = profile.configuration;
  const known = new Set([...hooks.map(({ id }) => id), ...defaults.removed]);
  const added = set.hooks.filter(({ id }) => !known.has(id));
  if (hooks.length + added.length > MAX_HOOKS) {
    return { kind: 'too_many_hooks', missing: added.map(({ id }) => id) };
  }
  return {
    kind: 'upgraded',
    added: added.map(({ id }) => id),
    hooks: [...hooks, ...added],
    defaults: { version: set.version, removed: defaults.removed },
  };
}
