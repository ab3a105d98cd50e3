import type { JudgedValue } from '../domain/call-facts';
import { isToolCall } from '../domain/call';
import type { CallState } from '../domain/call-state';
import type { JsonValue } from '../domain/json-value';
import type { TenantStore } from './tenant-store';

/** What is judged of a call at this moment, opened. */
export async function judgedValue(store: TenantStore, state: CallState): Promise<JudgedValue> {
  return judgedAs(store, state, await store.blobs.valueOf(state.call.id, state.chain.subject));
}

/** What would be judged with this value in the place of the present one. */
export async function judgedAs(store: TenantStore, state: CallState, value: JsonValue): Promise<JudgedValue> {
  const { call, reported } = state;
  if (!isToolCall(call)) return { kind: 'text', value };
  if (reported === undefined) return { kind: 'input', value };
  return { kind: reported.result, value, input: await store.blobs.valueOf(call.id, call.input) };
}
