/** Where a call is found. */
export function callLocation(threadId: string, callId: string): string {
  return `/v1/threads/${encodeURIComponent(threadId)}/tool-calls/${encodeURIComponent(callId)}`;
}
