import type { ToolCallStart } from './tool-call';
import { isOpen } from './tool-call';
import { openWaitOf, type ToolCallState } from './tool-call-state';

/**
 * Names of the blobs that a call has a use for. What the tool gave is one only until it is judged: then it has become
 * the output, or it is gone. The caller's own input stays, as what was asked for.
 */
export function blobsInUse(start: ToolCallStart, state: ToolCallState): string[] {
  const { call, chain } = state;
  const subjects = [start.subject, call.input, call.output, call.error];
  if (isOpen(call.status)) subjects.push(chain.subject, openWaitOf(state)?.wait.subject);
  return [...new Set(subjects.flatMap((subject) => (subject?.kind === 'blob' ? [subject.blob] : [])))];
}
