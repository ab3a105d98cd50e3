/** Who or what said no. A person, a policy, the clock, a broken hook and a cancellation are different outcomes. */
export type DeniedBy =
  'human' | 'policy' | 'permission' | 'timeout' | 'hook_failure' | 'cancelled' | 'pending';

/** Why, for programs (`code`) and for people (`text`, at most 4 KiB). */
export interface Reason {
  readonly code: string;
  readonly text?: string;
}

export interface Denial {
  readonly by: DeniedBy;
  /** The hook that denied; absent when no hook did, as when the work was cancelled. */
  readonly hookId?: string;
  readonly reason: Reason;
  /** Whether the tool has run. */
  readonly executed: true | false | 'unknown';
}
