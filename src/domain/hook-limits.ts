/** Longest time a call may wait for a person, in milliseconds, and the default: 24 hours. */
export const MAX_WAIT_MS = 86_400_000;

/** Most hooks of one profile. */
export const MAX_HOOKS = 16;
