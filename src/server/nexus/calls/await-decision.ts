import { isUnderWay, type CallState } from '../../../domain/call-state';
import type { TenantStore } from '../../../store/tenant-store';

/** Waits until a call neither waits nor runs, for at most `seconds`, and gives the state it then has. */
export async function awaitDecision<State extends CallState>(
  store: TenantStore,
  state: State,
  {
    seconds,
    signal,
    onState = () => undefined,
  }: { seconds: number; signal: AbortSignal; onState?: (state: State) => void },
): Promise<State> {
  if (!isUnderWay(state) || seconds === 0) return state;
  const { id } = state.call;
  const until = Date.now() + seconds * 1_000;
  const listener = store.changes.listenToCall(id, 'every step');
  try {
    for (let current = state; ;) {
      // A call stays of its kind.
      current = ((await store.calls.read(id))?.state as State | undefined) ?? current;
      onState(current);
      const left = until - Date.now();
      if (!isUnderWay(current) || left <= 0 || signal.aborted) return current;
      await listener.next(left, signal);
    }
  } finally {
    listener.stop();
  }
}
