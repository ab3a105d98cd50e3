/**
 * Every change to the workflows that a running call could meet on replay: what changed, why, and since which version.
 * Workflow code names its patches only through this list. A patch goes through `deprecatePatch` once no workflow from
 * before it can be running (a call lives for at most 16 waits of 24 hours and its output's time-out), and is then removed.
 *
 * There is none yet; the histories in test/histories hold the code to that.
 */
export const PATCHES = {} as const satisfies Record<string, { what: string; since: string }>;
