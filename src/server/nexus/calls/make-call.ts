import { requestDigest } from '../../../domain/call';
import { openCall } from '../../../domain/call-machine';
import { toolCallState, type ToolCallState } from '../../../domain/call-state';
import type { Toolbox } from '../../../tools/toolbox';
import type { Started, CallGateway } from '../../temporal';
import type { NexusPrincipal } from '../nexus-principal';
import { visibleThread } from '../profile-access';
import { addressed } from './addressed';
import { callIdFor } from './call-id';
import type { MakeCall } from './call-request';
import { decide } from './decide';
import { notDecidedProblem } from './not-decided';
import { sameRequest, threadClosed } from './same-request';
import { prepareStart, readAhead, type PreparedStart } from './prepare-start';

/** What calls are made with. */
export interface CallMaking {
  readonly gateway: CallGateway;
  readonly toolbox: Toolbox;
}

/**
 * Takes a call from the request to its first outcome: parked, allowed or ended. A repeat under an Idempotency-Key
 * gets the call as it is now.
 */
export async function makeCall({ gateway, toolbox }: CallMaking, make: MakeCall): Promise<ToolCallState> {
  const { principal, threadId, request, idempotencyKey } = make;
  const { store, tenant, key } = principal;
  const ahead = readAhead(store, threadId);
  const { thread, closed } = await visibleThread(principal, threadId);
  const digest = requestDigest(request);
  const callId = callIdFor({ tenant, owner: key.owner, threadId, idempotencyKey });

  const known = idempotencyKey === undefined ? undefined : await store.calls.readToolCall(callId);
  if (known !== undefined) {
    const state = sameRequest(known.state, digest);
    // The server that stored it may have died before it started the workflow.
    if (known.start.storedAsAllowed && state.n === 1) {
      demandStarted(await gateway.startAllowed(known.start), state, principal);
    }
    return state;
  }
  if (closed) throw threadClosed();

  const { start, settings } = await prepareStart(principal, request, {
    thread,
    callId,
    digest,
    ahead,
    toolbox,
  });
  return start.storedAsAllowed
    ? storeAllowed(gateway, principal, { start, settings })
    : toolCallState(await decide(gateway, principal, start, make.withinMs));
}

/** No rule of the profile has a say: nobody's opinion is needed, and one write and a start are all. */
async function storeAllowed(
  gateway: CallGateway,
  principal: NexusPrincipal,
  { start, settings }: PreparedStart,
): Promise<ToolCallState> {
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
  const state =
    result.kind === 'taken'
      ? sameRequest(toolCallState(result.state), start.requestDigest)
      : toolCallState(transition.state);
  const known =
    result.kind === 'taken' ? await addressed(start, () => calls.readToolCall(start.callId)) : undefined;
  demandStarted(await gateway.startAllowed(known?.start ?? start), state, principal);
  // Nobody waits for this: the reconciler starts once more what is not confirmed, which changes nothing.
  setImmediate(() => void calls.confirmStarted(start.callId).catch(() => undefined));
  return state;
}

function demandStarted(started: Started, { call }: ToolCallState, principal: NexusPrincipal): void {
  if (started.kind === 'started') return;
  throw notDecidedProblem(started, { threadId: call.threadId, callId: call.id }, principal);
}
