import { isOpen, isTextStart, isToolCall, type CallStart } from './call';
import type { Subject } from './subject';
import { openWaitOf, type CallState } from './call-state';

/**
 * Names of the blobs that a call has a use for. What the tool gave, and a text, is one only until it is judged: then it
 * has become the output or the text, or it is gone. The input of a tool stays, as what was asked for.
 */
export function blobsInUse(start: CallStart, state: CallState): string[] {
  const { call, chain } = state;
  const subjects: (Subject | undefined)[] = isToolCall(call)
    ? [call.input, call.output, call.error]
    : [call.text];
  if (!isTextStart(start)) subjects.push(start.subject);
  if (isOpen(call.status)) subjects.push(chain.subject, openWaitOf(state)?.wait.subject);
  return [...new Set(subjects.flatMap((subject) => (subject?.kind === 'blob' ? [subject.blob] : [])))];
}
