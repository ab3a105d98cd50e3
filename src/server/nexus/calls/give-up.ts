import type { CallState } from '../../../domain/call-state';
import { HttpProblem } from '../../http/problem';
import type { ToolCallGateway } from '../../temporal';
import type { NexusPrincipal } from '../nexus-principal';
import { findCall } from './call-access';
import { notDecidedProblem } from './not-decided';
import { reachCall } from './reach-call';
import { callEnded } from './report-result';

/** Cancels a call that has not ended. Cancelling twice is cancelling once. */
export async function giveUpCall(
  gateway: ToolCallGateway,
  { principal, threadId, callId }: { principal: NexusPrincipal; threadId: string; callId: string },
): Promise<CallState> {
  await findCall(principal, gateway, { threadId, callId });
  const { store, tenant, key } = principal;
  const reached = await reachCall(gateway, { store, callId }, () =>
    gateway.cancel(tenant, callId, { by: key.owner, code: 'call_cancelled' }),
  );
  if (reached.kind === 'undecided' || reached.kind === 'unavailable') {
    throw notDecidedProblem(reached, { threadId, callId }, principal);
  }
  const now = await store.calls.read(callId);
  if (now === undefined)
    throw new HttpProblem('not-found', { detail: 'the workflow of this call was ended' });
  const { status } = now.state.call;
  if (status === 'cancelled') return now.state;
  throw callEnded(threadId, callId, status);
}
