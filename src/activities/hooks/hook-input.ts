import type { PlacedUrlHook } from '../../domain/hook';
import type { JsonValue } from '../../domain/json-value';
import type { ToolCallStart } from '../../domain/call';
import { pointOf, type CallState } from '../../domain/call-state';

/** What a hook is told, apart from what differs between attempts. */
export type HookInputBase = Readonly<Record<string, unknown>>;

/** The values of the call at this moment: what is judged, and at the after-point the input that ran. */
export interface PresentValues {
  readonly input: JsonValue;
  readonly result?: { readonly kind: 'output' | 'error'; readonly value: JsonValue };
}

export function hookInput(
  { hook, index }: PlacedUrlHook,
  call: {
    start: ToolCallStart;
    state: CallState;
    values: PresentValues;
    metadata: JsonValue;
    deliveryId: string;
  },
): HookInputBase {
  const { start, state, values, metadata, deliveryId } = call;
  const { input, result } = values;
  return {
    deliveryId,
    hookId: hook.id,
    index,
    point: pointOf(state),
    tenantId: start.tenant,
    profile: { id: start.profile.id, version: start.profile.version },
    thread: { id: start.threadId, metadata },
    callId: start.callId,
    ...(start.toolUseId !== undefined && { toolUseId: start.toolUseId }),
    tool: start.tool,
    input,
    ...(result !== undefined && { [result.kind]: result.value }),
    subjectDigest: state.chain.subject.digest,
    rewrittenBy: state.chain.rewrittenBy,
    ...(start.actor !== undefined && { actor: start.actor }),
  };
}
