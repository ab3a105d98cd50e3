import { v4 } from 'uuid';
import { callFacts } from '../../../domain/call-facts';
import { pointOf } from '../../../domain/call-state';
import { inputFault } from '../../../domain/input-schema';
import type { JsonValue } from '../../../domain/json-value';
import type { Subject } from '../../../domain/subject';
import { judgedAs } from '../../../store/judged-value';
import { keepSubject } from '../../../store/keep-subject';
import type { TenantStore } from '../../../store/tenant-store';
import { HttpProblem } from '../../http/problem';
import { answerFaults } from './refusal-problem';

/**
 * An edited value as a subject of its call, under the profile that the call has pinned.
 * @throws HttpProblem when the tool's schema does not allow it
 */
export async function keptEdit(store: TenantStore, callId: string, value: JsonValue): Promise<Subject> {
  const known = await store.calls.read(callId);
  if (known === undefined) throw new HttpProblem('not-found', { detail: 'the call is not known any more' });
  const { start, state } = known;
  const { inputSchema } = start.profile;
  const fault =
    inputSchema === undefined || state.reported !== undefined ? undefined : inputFault(inputSchema, value);
  if (fault !== undefined) {
    throw answerFaults([{ pointer: `/updatedInput${fault.pointer}`, detail: fault.detail }]);
  }
  const thread = await store.threads.read(start.threadId);
  const judged = await judgedAs(store, state, value);
  const facts = callFacts(start, thread?.thread.metadata ?? {});
  return keepSubject(
    store,
    { callId, profile: start.profile, point: pointOf(state), facts },
    judged,
    () => `edit-${v4()}`,
  );
}
