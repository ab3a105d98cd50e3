import { v4 } from 'uuid';
import type { ToolCallRecord, ToolCallStart } from '../domain/call';
import { callFacts } from '../domain/call-facts';
import type { JsonValue } from '../domain/json-value';
import type { BlobSubject } from '../domain/subject';
import { keepQuarantined } from './keep-subject';
import type { TenantStore } from './tenant-store';

/** What came of a tool, as a blob that nobody is shown before it is judged. */
export async function keepResult(
  store: TenantStore,
  { start, call }: { start: ToolCallStart; call: Pick<ToolCallRecord, 'input'> },
  { kind, value }: { kind: 'output' | 'error'; value: JsonValue },
): Promise<BlobSubject> {
  const { callId, profile, threadId } = start;
  // Only conditions look at the call's input and at the thread.
  const conditional = profile.hooks.some(({ hook }) => hook.match?.where !== undefined);
  const [input, thread] = conditional
    ? await Promise.all([store.blobs.valueOf(callId, call.input), store.threads.read(threadId)])
    : [null, undefined];
  const facts = callFacts(start, thread?.thread.metadata ?? {});
  const origin = { callId, profile, point: 'after_tool_call', facts } as const;
  return keepQuarantined(store, origin, { kind, value, input }, `${kind}-${v4()}`);
}
