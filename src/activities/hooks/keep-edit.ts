import { v4 } from 'uuid';
import { callFacts } from '../../domain/call-facts';
import { pointOf } from '../../domain/call-state';
import { inputFault } from '../../domain/input-schema';
import type { JsonValue } from '../../domain/json-value';
import type { Subject } from '../../domain/subject';
import { keepSubject } from '../../store/keep-subject';
import type { TenantStore } from '../../store/tenant-store';

export type KeptEdit =
  | { readonly kind: 'kept'; readonly subject: Subject }
  | { readonly kind: 'refused'; readonly problem: string };

/** Makes an edited input a subject of its call, under the profile that the call has pinned. */
export async function keepEdit(store: TenantStore, callId: string, value: JsonValue): Promise<KeptEdit> {
  const snapshot = await store.calls.read(callId);
  if (snapshot === undefined) return { kind: 'refused', problem: 'the call is not known' };
  const { start, state } = snapshot;
  const { inputSchema } = start.profile;
  const fault = inputSchema === undefined ? undefined : inputFault(inputSchema, value);
  if (fault !== undefined)
    return { kind: 'refused', problem: `/updatedInput${fault.pointer}: ${fault.detail}` };
  const thread = await store.threads.read(start.threadId);
  const facts = callFacts(start, thread?.thread.metadata ?? {});
  const origin = { callId, profile: start.profile, point: pointOf(state), facts };
  const subject = await keepSubject(store, origin, { kind: 'input', value }, () => `edit-${v4()}`);
  return { kind: 'kept', subject };
}
