import type { CallState } from '../../../domain/call-state';
import type { ToolCallMemo } from '../../../workflows/tool-call-options';
import { HttpProblem } from '../../http/problem';
import type { ToolCallGateway } from '../../temporal';
import type { NexusPrincipal } from '../nexus-principal';
import { visibleThread } from '../profile-access';
import { canBeId } from '../stored-id';
import { notDecidedProblem } from './not-decided';

export type FoundCall =
  | { readonly kind: 'stored'; readonly state: CallState }
  /** Being decided; nothing is stored yet. */
  | { readonly kind: 'unstored'; readonly memo: ToolCallMemo };

/** The call of a thread that the key may see; whatever else it is, the same 404. */
export async function findCall(
  principal: NexusPrincipal,
  gateway: ToolCallGateway,
  at: { threadId: string; callId: string },
): Promise<FoundCall> {
  await visibleThread(principal, at.threadId);
  if (!canBeId(at.callId)) throw unknownCall();
  const stored = await principal.store.calls.read(at.callId);
  if (stored !== undefined) {
    if (stored.state.call.threadId !== at.threadId) throw unknownCall();
    return { kind: 'stored', state: stored.state };
  }
  const found = await gateway.findUnstored(principal.tenant, at.callId);
  if (found.kind === 'undecided' || found.kind === 'unavailable')
    throw notDecidedProblem(found, at, principal);
  if (found.kind === 'unknown' || found.memo.threadId !== at.threadId) throw unknownCall();
  // It may have been stored between the two looks.
  const now = await principal.store.calls.read(at.callId);
  return now === undefined ? { kind: 'unstored', memo: found.memo } : { kind: 'stored', state: now.state };
}

function unknownCall(): HttpProblem {
  return new HttpProblem('not-found', { detail: 'no such call in this thread' });
}
