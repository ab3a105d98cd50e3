import type { EventDraft } from './audit';
import type { CallRecord } from './call';
import type { CallState } from './call-state';
import type { StoredWait } from './stored-wait';

/**
 * One step of a call, as its workflow tells it to the store.
 *
 * A call's workflow is the only writer of the call while it runs. It numbers its steps 1, 2, 3, … and each carries
 * the whole new state.
 *
 *   T1  The first write of step n is the truth. A step whose number is taken changes nothing.
 *   T2  State, waits and events of a step are stored in one script: all of them or none.
 *   T3  Nobody is told of a step before it is stored.
 *   T4  A workflow that finds its step taken adopts the stored state and applies its input to that.
 *
 * T4 is what makes a crash harmless. A local activity may have stored a step when its worker dies, and nothing of it
 * is in Temporal's history: the message that caused it may come again in another order, too late, or never.
 */
export interface Transition {
  readonly n: number;
  /** The workflow's whole state after this step; a workflow that finds its step taken goes on from here. */
  readonly state: CallState;
  /** RFC 3339, by the workflow's clock. */
  readonly at: string;
  readonly call: CallRecord;
  readonly waits: readonly StoredWait[];
  readonly events: readonly EventDraft[];
  /** Names of this call's blobs that the new state refers to; other blobs of a call vanish by themselves. */
  readonly keepBlobs: readonly string[];
  /** Names of blobs that the new state has no more use for; deleted with the step. */
  readonly dropBlobs?: readonly string[];
  /** The call was answered `pending`: the identity under which the same request finds it again. */
  readonly indexPending?: string;
  /** One more id that the model gave this call. */
  readonly alias?: string;
}
