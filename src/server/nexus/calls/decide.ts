import type { CallStart } from '../../../domain/call';
import type { CallState } from '../../../domain/call-state';
import type { CallGateway } from '../../temporal';
import type { NexusPrincipal } from '../nexus-principal';
import { addressed } from './addressed';
import { firstOutcome } from './first-outcome';
import { notDecidedProblem } from './not-decided';
import { sameRequest } from './same-request';

/**
 * Starts a call and waits for its first outcome, which comes from the workflow, by way of the store.
 * @throws HttpProblem while it is not known, with the call's address
 */
export async function decide(
  gateway: CallGateway,
  principal: NexusPrincipal,
  start: CallStart,
  withinMs?: number,
): Promise<CallState> {
  const { store } = principal;
  const { state, decided } = await firstOutcome(store, start.callId, gateway.decide(start, withinMs));
  if (state !== undefined) return sameRequest(state, start.requestDigest);
  const stored = await addressed(start, () => store.calls.read(start.callId));
  if (stored !== undefined) return sameRequest(stored.state, start.requestDigest);
  throw notDecidedProblem(decided, start, principal);
}
