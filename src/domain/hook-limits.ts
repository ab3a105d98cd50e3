/** Longest time a call may wait for a person or a late answer, in milliseconds, and the default: 24 hours. */
export const MAX_WAIT_MS = 86_400_000;

/** Most hooks of one profile. */
export const MAX_HOOKS = 16;

/** Most bytes of a hook's answer that are read. */
export const MAX_ANSWER_BYTES = 1_048_576;

/** How long an allowed call waits for its output unless the profile says otherwise, in milliseconds: 1 hour. */
export const DEFAULT_OUTPUT_TIMEOUT_MS = 3_600_000;

/** How long an approval that was answered `pending` may be picked up, in milliseconds: 1 hour. */
export const DEFAULT_GRANT_TTL_MS = 3_600_000;
