/** Where a turn is found. */
export function turnLocation(threadId: string, turnId: string): string {
  return `/v1/threads/${encodeURIComponent(threadId)}/turns/${encodeURIComponent(turnId)}`;
}
