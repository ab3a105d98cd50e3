import type { PlacedHook } from '../../domain/hook';
import type { JsonValue } from '../../domain/json-value';
import { isTextStart, type CallStart } from '../../domain/call';
import { membersOf, type JudgedValue } from '../../domain/call-facts';
import { pointOf, type CallState } from '../../domain/call-state';

/** What a hook is told, apart from what differs between attempts. */
export type HookInputBase = Readonly<Record<string, unknown>>;

export function hookInput(
  { hook, index }: PlacedHook,
  call: {
    start: CallStart;
    state: CallState;
    judged: JudgedValue;
    metadata: JsonValue;
    deliveryId: string;
  },
): HookInputBase {
  const { start, state, judged, metadata, deliveryId } = call;
  return {
    deliveryId,
    hookId: hook.id,
    index,
    point: pointOf(state),
    tenantId: start.tenant,
    profile: { id: start.profile.id, version: start.profile.version },
    thread: { id: start.threadId, metadata },
    ...(start.turnId !== undefined && { turnId: start.turnId }),
    callId: start.callId,
    ...(!isTextStart(start) && {
      ...(start.toolUseId !== undefined && { toolUseId: start.toolUseId }),
      tool: start.tool,
    }),
    ...membersOf(judged),
    subjectDigest: state.chain.subject.digest,
    rewrittenBy: state.chain.rewrittenBy,
    ...(start.actor !== undefined && { actor: start.actor }),
  };
}
