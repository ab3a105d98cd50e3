import { isSettled, type CallState } from '../../../domain/call-state';
import type { TenantStore } from '../../../store/tenant-store';
import type { Started } from '../../temporal';

/** Either where the call stands, or what the workflow service said; then the store knows more. */
export type FirstOutcome =
  | { readonly state: CallState; readonly decided?: undefined }
  | { readonly state?: undefined; readonly decided: Started };

/** The store's notices wake it; this is only for one that was lost. */
const LOOK_AGAIN_MS = 2_000;

/**
 * Waits for the first outcome of a call whose start is on its way. The store shows it as soon as the step is stored,
 * which is before the workflow task that made the step is over; and a stored step stands whatever becomes of that task
 * (domain/transition.ts, T1 and T4).
 */
export async function firstOutcome(
  store: TenantStore,
  callId: string,
  decided: Promise<Started>,
): Promise<FirstOutcome> {
  const over = new AbortController();
  const listener = store.changes.listenToCall(callId, 'settled');
  const seen = async (): Promise<FirstOutcome> => {
    while (!over.signal.aborted) {
      await listener.next(LOOK_AGAIN_MS, over.signal);
      if (over.signal.aborted) break;
      const snapshot = await store.calls.read(callId).catch(() => undefined);
      if (snapshot !== undefined && isSettled(snapshot.state)) return { state: snapshot.state };
    }
    return told;
  };
  const told = decided.then((reply): FirstOutcome => ({ decided: reply }));
  try {
    return await Promise.race([told, seen()]);
  } finally {
    over.abort();
    listener.stop();
    // What it still says after the store has said it is of no interest.
    told.catch(() => undefined);
  }
}
