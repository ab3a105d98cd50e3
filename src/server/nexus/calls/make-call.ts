import { requestDigest, type ToolCallStart } from '../../../domain/call';
import { openCall } from '../../../domain/call-machine';
import type { CallState } from '../../../domain/call-state';
import { HttpProblem } from '../../http/problem';
import type { Started, ToolCallGateway } from '../../temporal';
import type { NexusPrincipal } from '../nexus-principal';
import { visibleThread } from '../profile-access';
import { addressed } from './addressed';
import { callIdFor } from './call-id';
import { callLocation } from './call-location';
import type { MakeCall } from './call-request';
import { firstOutcome } from './first-outcome';
import { notDecidedProblem } from './not-decided';
import { prepareStart, readAhead, type PreparedStart } from './prepare-start';

/**
 * Takes a call from the request to its first outcome: parked, allowed or ended. A repeat under an Idempotency-Key
 * gets the call as it is now.
 */
export async function makeCall(gateway: ToolCallGateway, make: MakeCall): Promise<CallState> {
  const { principal, threadId, request, idempotencyKey } = make;
  const { store, tenant, key } = principal;
  const ahead = readAhead(store, threadId);
  const { thread, closed } = await visibleThread(principal, threadId);
  const digest = requestDigest({ ...request, execution: 'caller' });
  const callId = callIdFor({ tenant, owner: key.owner, threadId, idempotencyKey });

  const known = idempotencyKey === undefined ? undefined : await store.calls.read(callId);
  if (known !== undefined) {
    const state = sameRequest(known.state, digest);
    // The server that stored it may have died before it started the workflow.
    if (known.start.storedAsAllowed && state.call.status === 'allowed') {
      demandStarted(await gateway.startAllowed(known.start), state, principal);
    }
    return state;
  }
  if (closed) throw threadClosed();

  const { start, settings } = await prepareStart(principal, request, { thread, callId, digest, ahead });
  return start.storedAsAllowed
    ? storeAllowed(gateway, principal, { start, settings })
    : decide(gateway, principal, start, make.withinMs);
}

/** The first outcome comes from the workflow, by way of the store. */
async function decide(
  gateway: ToolCallGateway,
  principal: NexusPrincipal,
  start: ToolCallStart,
  withinMs: number | undefined,
): Promise<CallState> {
  const { store } = principal;
  const { state, decided } = await firstOutcome(store, start.callId, gateway.decide(start, withinMs));
  if (state !== undefined) return sameRequest(state, start.requestDigest);
  const stored = await addressed(start, () => store.calls.read(start.callId));
  if (stored !== undefined) return sameRequest(stored.state, start.requestDigest);
  throw notDecidedProblem(decided, start, principal);
}

/** No rule of the profile has a say: nobody's opinion is needed, and one write and a start are all. */
async function storeAllowed(
  gateway: ToolCallGateway,
  principal: NexusPrincipal,
  { start, settings }: PreparedStart,
): Promise<CallState> {
  const { calls } = principal.store;
  const transition = openCall(start, Date.parse(start.createdAt));
  const result = await addressed(start, () =>
    calls.commit(transition, {
      start,
      onlyIfThreadOpen: true,
      unstarted: true,
      auditRules: calls.readAuditRules(settings),
    }),
  );
  if (result.kind === 'thread_closed') throw threadClosed();
  // Another request under the same key was first: its state, and its start, are the call's.
  const state = result.kind === 'taken' ? sameRequest(result.state, start.requestDigest) : transition.state;
  const known = result.kind === 'taken' ? await addressed(start, () => calls.read(start.callId)) : undefined;
  demandStarted(await gateway.startAllowed(known?.start ?? start), state, principal);
  // Nobody waits for this: the reconciler starts once more what is not confirmed, which changes nothing.
  setImmediate(() => void calls.confirmStarted(start.callId).catch(() => undefined));
  return state;
}

function sameRequest(state: CallState, digest: string): CallState {
  if (state.call.requestDigest === digest) return state;
  throw new HttpProblem('idempotency-key-reused', {
    detail: 'this Idempotency-Key was used in this thread for another request',
    extensions: { callId: state.call.id, requestDigest: state.call.requestDigest },
    headers: { Location: callLocation(state.call.threadId, state.call.id) },
  });
}

function demandStarted(started: Started, { call }: CallState, principal: NexusPrincipal): void {
  if (started.kind === 'started') return;
  throw notDecidedProblem(started, { threadId: call.threadId, callId: call.id }, principal);
}

function threadClosed(): HttpProblem {
  return new HttpProblem('thread-closed', { detail: 'the thread was closed and takes no new calls' });
}
