/**
 * Every change to the workflows that a running call could meet on replay: what changed, why, and since which version.
 * Workflow code names its patches only through this list. A patch goes through `deprecatePatch` once no workflow from
 * before it can be running (a call lives for at most 32 waits of 24 hours and its output's time-out), and is then removed.
 */
export const PATCHES = {
  'edit-kept-by-activity': {
    what: 'An edit that comes by signal is checked and kept by an activity, which knows the tool schema and conditions.',
    since: '0.1.0',
  },
} as const satisfies Record<string, { what: string; since: string }>;

export type PatchId = keyof typeof PATCHES;
