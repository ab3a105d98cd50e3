import { hooksForTool, type PlacedHook } from './hook';
import type { Configuration, Timeouts } from './profile-schema';

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

/** What a call keeps of its profile from its first moment: later edits change nothing for it. */
export interface PinnedProfile {
  readonly id: string;
  readonly version: number;
  /** Only the hooks that run for the call's tool, each with its place in the profile's list. */
  readonly hooks: readonly PlacedHook[];
  readonly timeouts: Timeouts;
}

export function pinProfile(profile: Profile, tool: string): PinnedProfile {
  const { id, version, configuration } = profile;
  return { id, version, hooks: hooksForTool(configuration.hooks, tool), timeouts: configuration.timeouts };
}
