import type { ChainState } from './hook-chain';
import type { CallRecord } from './tool-call';
import type { StoredWait } from './stored-wait';

/**
 * Where a tool call stands. The workflow holds it; the store keeps it with each step.
 *
 *   (start) ──▶ waiting ──▶ waiting …      a hook parks; resolved, the next one may park again
 *   waiting | (start) ──▶ allowed | denied | cancelled
 *   allowed ──▶ completed | failed | expired | cancelled
 */
export interface ToolCallState {
  /** Number of the step that led here; 0 before the first. */
  readonly n: number;
  readonly call: CallRecord;
  readonly chain: ChainState;
  /** How many of the hooks that match have been asked. */
  readonly asked: number;
  readonly waitsOpened: number;
  /** The open wait, or the last one that was. */
  readonly wait?: StoredWait;
}

/** The wait that holds the call now. */
export function openWaitOf(state: ToolCallState): StoredWait | undefined {
  return state.wait?.wait.outcome === undefined ? state.wait : undefined;
}

/** When the present state ends by itself, in milliseconds since the epoch. */
export function deadlineOf(state: ToolCallState): number | undefined {
  const open = openWaitOf(state);
  if (open !== undefined) return open.wait.expiresAt;
  return state.call.status === 'allowed' && state.call.expiresAt !== undefined
    ? Date.parse(state.call.expiresAt)
    : undefined;
}
