import { textPointOf } from '../../../domain/call';

const COLLECTIONS = { before_input: 'inputs', after_output: 'outputs' } as const;

/** Where a call is found. */
export function callLocation(threadId: string, callId: string): string {
  const point = textPointOf(callId);
  const collection = point === undefined ? 'tool-calls' : COLLECTIONS[point];
  return `/v1/threads/${encodeURIComponent(threadId)}/${collection}/${encodeURIComponent(callId)}`;
}
