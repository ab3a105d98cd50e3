import type { TenantStore } from '../../../store/tenant-store';
import type { Reached, CallGateway } from '../../temporal';

/**
 * Sends a message to the workflow of a call. When a server stored the call as allowed and died before it started the
 * workflow, the workflow is started first: the caller may have found its call in the store, and run the tool.
 */
export async function reachCall<Reply>(
  gateway: CallGateway,
  { store, callId }: { store: TenantStore; callId: string },
  send: () => Promise<Reached<Reply>>,
): Promise<Reached<Reply>> {
  const reached = await send();
  if (reached.kind !== 'ended') return reached;
  const known = await store.calls.readToolCall(callId);
  if (known?.start.storedAsAllowed !== true || known.state.n !== 1) return reached;
  // One that ran and was terminated is not started again; then the second message finds it ended too.
  const started = await gateway.startAllowed(known.start);
  return started.kind === 'started' ? send() : started;
}
