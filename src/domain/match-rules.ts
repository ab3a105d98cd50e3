import { allHold, type ConditionFacts } from './condition';
import { hooksAt } from './hook';
import type { Matching } from './subject';
import type { Point } from './point';
import type { PinnedProfile } from './profile';

/** Works out which conditional rules of the profile hold; nothing when no rule is conditional. */
export function matchRules(
  profile: PinnedProfile,
  point: Point,
  facts: ConditionFacts,
): Matching | undefined {
  const hooks = hooksAt(profile.hooks, point);
  const permissions = point === 'before_tool_call' ? (profile.permissions ?? []) : [];
  if (permissions.length === 0 && hooks.every(({ hook }) => hook.match?.where === undefined))
    return undefined;

  const skips = hooks
    .filter(({ hook }) => !allHold(hook.match?.where ?? [], facts))
    .map(({ index }) => index);
  const matching = permissions.filter(({ permission }) => allHold(permission.where ?? [], facts));
  const deciding =
    matching.find(({ permission }) => permission.effect === 'deny') ??
    matching.find(({ permission }) => permission.effect === 'allow');
  return { skips, ...(deciding !== undefined && { permission: deciding.index }) };
}
