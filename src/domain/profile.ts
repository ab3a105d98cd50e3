import { hooksForText, hooksForTool, type PlacedHook } from './hook';
import type { JsonValue } from './json-value';
import type { TextPoint } from './point';
import type { Permission } from './permission-schema';
import type { Configuration, Timeouts } from './profile-schema';
import { listedTools, type KnownTool, type RunnableTool } from './runnable-tool';
import { toolMatches } from './tool-pattern';

/** Which set of default hooks a profile took, and which of their ids its owner took out again. */
export interface DefaultsTaken {
  readonly version: number;
  readonly removed: readonly string[];
}

export interface Profile {
  readonly id: string;
  readonly name: string;
  readonly configuration: Configuration;
  /** Grows by one with every change. */
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Absent when the profile was made with its own list of hooks: such a list is authoritative. */
  readonly defaults?: DefaultsTaken;
}

/** A permission together with its place in the profile's list. */
export interface PlacedPermission {
  readonly index: number;
  readonly permission: Permission;
}

/** What a call keeps of its profile from its first moment: later edits change nothing for it. */
export interface PinnedProfile {
  readonly id: string;
  readonly version: number;
  /** Only the hooks that run for the call's tool, or judge its text, each with its place in the profile's list. */
  readonly hooks: readonly PlacedHook[];
  /** Only those that name the call's tool; absent when none does. */
  readonly permissions?: readonly PlacedPermission[];
  /** Absent: allow. */
  readonly unmatchedTools?: 'ask' | 'deny';
  /** JSON Schema of the tool's input; absent when none is known. */
  readonly inputSchema?: JsonValue;
  /** How the service runs the tool; absent when the caller does. */
  readonly runs?: RunnableTool;
  /** Calls from before there were pending approvals have no time-out for them. */
  readonly timeouts: Pick<Timeouts, 'outputTimeoutMs'> & Partial<Timeouts>;
}

/** @param running the tool, when the service is to run it */
export function pinProfile(profile: Profile, tool: string, running?: KnownTool): PinnedProfile {
  const { id, version, configuration } = profile;
  const { unmatchedTools } = configuration;
  const permissions = configuration.permissions
    .map((permission, index) => ({ permission, index }))
    .filter(({ permission }) => permission.tools.some((pattern) => toolMatches(pattern, tool)));
  const { inputSchema } = running ?? listedTools(configuration.tools).find(({ name }) => name === tool) ?? {};
  return {
    id,
    version,
    hooks: hooksForTool(configuration.hooks, tool),
    ...(permissions.length > 0 && { permissions }),
    ...(unmatchedTools !== 'allow' && { unmatchedTools }),
    ...(inputSchema !== undefined && { inputSchema }),
    ...(running?.runs !== undefined && { runs: running.runs }),
    timeouts: configuration.timeouts,
  };
}

/** What a text keeps of its profile: the hooks at its point. */
export function pinForText({ id, version, configuration }: Profile, point: TextPoint): PinnedProfile {
  const { hooks, timeouts } = configuration;
  return { id, version, hooks: hooksForText(hooks, point), timeouts };
}
