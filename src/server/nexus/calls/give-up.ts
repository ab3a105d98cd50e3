import type { CallState, TextState, ToolCallState } from '../../../domain/call-state';
import { textState, toolCallState } from '../../../domain/call-state';
import type { TextPoint } from '../../../domain/point';
import { HttpProblem } from '../../http/problem';
import type { CallGateway } from '../../temporal';
import type { NexusPrincipal } from '../nexus-principal';
import { findCall, findText } from './call-access';
import { notDecidedProblem } from './not-decided';
import { reachCall } from './reach-call';
import { callEnded } from './report-result';

/** Cancels a tool call that has not ended. Cancelling twice is cancelling once. */
export async function giveUpCall(
  gateway: CallGateway,
  at: { principal: NexusPrincipal; threadId: string; callId: string },
): Promise<ToolCallState> {
  await findCall(at.principal, gateway, at);
  return toolCallState(await giveUp(gateway, at));
}

/** The same for a text. */
export async function giveUpText(
  gateway: CallGateway,
  at: { principal: NexusPrincipal; threadId: string; textId: string; point: TextPoint },
): Promise<TextState> {
  const { principal, threadId, textId } = at;
  await findText(principal, gateway, at);
  return textState(await giveUp(gateway, { principal, threadId, callId: textId }));
}

async function giveUp(
  gateway: CallGateway,
  { principal, threadId, callId }: { principal: NexusPrincipal; threadId: string; callId: string },
): Promise<CallState> {
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
