import type { ToolCallStart } from './call';
import { isOpen } from './call';
import { openWaitOf, type CallState } from './call-state';

/**
 * Names of the blobs that a call has a use for. What the tool gave is one only until it is judged: then it has become
 * the output, or it is gone. The caller's own input stays, as what was asked for.
 */
export function blobsInUse(start: ToolCallStart, state: CallState): string[] {
  const { call, chain } = state;
  const subjects = [start.subject, call.input, call.output, call.error];
  if (isOpen(call.status)) subjects.push(chain.subject, openWaitOf(state)?.wait.subject);
  return [...new Set(subjects.flatMap((subject) => (subject?.kind === 'blob' ? [subject.blob] : [])))];
}
