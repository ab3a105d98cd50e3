import type { PlacedHook } from './hook';
import type { Permission } from './permission-schema';
import type { Point } from './point';

/** Whoever says yes or no about a subject at one place: a hook, a permission, or the rule for tools that none matched. */
export interface Judge {
  /** The hook's or the permission's id. */
  readonly id: string;
  /** Place in the profile's list of hooks, or of permissions; -1 for the rule for unmatched tools. */
  readonly index: number;
  readonly point: Point;
  readonly processor: 'client' | 'url' | 'agent' | 'permission';
  readonly mode: 'enforce' | 'observe';
  readonly onFailure: 'fail_closed' | 'fail_open';
}

export function judgeOfHook({ hook, index }: PlacedHook): Judge {
  const { id, point, processor, mode, onFailure } = hook;
  return { id, index, point, processor: processor.type, mode, onFailure };
}

export function judgeOfPermission(permission: Permission, index: number): Judge {
  return {
    id: permission.id,
    index,
    point: 'before_tool_call',
    processor: 'permission',
    mode: 'enforce',
    onFailure: 'fail_closed',
  };
}

/** `unmatchedTools` of the profile. */
export const UNMATCHED_TOOLS: Judge = {
  id: 'unmatchedTools',
  index: -1,
  point: 'before_tool_call',
  processor: 'permission',
  mode: 'enforce',
  onFailure: 'fail_closed',
};
