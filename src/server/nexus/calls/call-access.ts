import { textPointOf } from '../../../domain/call';
import {
  isOfTool,
  textState,
  type CallState,
  type TextState,
  type ToolCallState,
} from '../../../domain/call-state';
import type { TextPoint } from '../../../domain/point';
import type { CallMemo, TextMemo, ToolCallMemo } from '../../../workflows/call-options';
import { HttpProblem } from '../../http/problem';
import type { CallGateway } from '../../temporal';
import type { NexusPrincipal } from '../nexus-principal';
import { visibleThread } from '../profile-access';
import { canBeId } from '../stored-id';
import { notDecidedProblem } from './not-decided';

export type FoundCall<State extends CallState = ToolCallState, Memo extends CallMemo = ToolCallMemo> =
  | { readonly kind: 'stored'; readonly state: State }
  /** Being decided; nothing is stored yet. */
  | { readonly kind: 'unstored'; readonly memo: Memo };

/** The tool call of a thread that the key may see; whatever else it is, the same 404. */
export async function findCall(
  principal: NexusPrincipal,
  gateway: CallGateway,
  at: { threadId: string; callId: string },
): Promise<FoundCall> {
  await visibleThread(principal, at.threadId);
  const found = await find(principal, gateway, at);
  if (found.kind === 'unstored') {
    const { memo } = found;
    if (!('tool' in memo)) throw unknownCall();
    return { kind: 'unstored', memo };
  }
  const { state } = found;
  if (!isOfTool(state)) throw unknownCall();
  return { kind: 'stored', state };
}

/** The text that was judged at this point of a thread; whatever else it is, the same 404. */
export async function findText(
  principal: NexusPrincipal,
  gateway: CallGateway,
  at: { threadId: string; textId: string; point: TextPoint },
): Promise<FoundCall<TextState, TextMemo>> {
  const { threadId, textId, point } = at;
  await visibleThread(principal, threadId);
  if (textPointOf(textId) !== point) throw unknownCall();
  const found = await find(principal, gateway, { threadId, callId: textId });
  if (found.kind === 'unstored') {
    const { memo } = found;
    if ('tool' in memo) throw unknownCall();
    return { kind: 'unstored', memo };
  }
  return { kind: 'stored', state: textState(found.state) };
}

async function find(
  principal: NexusPrincipal,
  gateway: CallGateway,
  at: { threadId: string; callId: string },
): Promise<FoundCall<CallState, CallMemo>> {
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
