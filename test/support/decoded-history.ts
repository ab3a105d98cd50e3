import { callWorkflowId } from '../../src/domain/call';
import type { Stack } from './stack';

/** The history of a call as text, with every payload decoded. */
export async function decodedHistory(stack: Stack, callId: string): Promise<string> {
  const handle = stack.client.workflow.getHandle(callWorkflowId(stack.tenant, callId));
  // Protocol Buffers' JSON writes bytes as base64; payloads are the members `data`.
  const json = JSON.stringify(await handle.fetchHistory());
  return json.replaceAll(/"data":"([A-Za-z0-9+/=]*)"/g, (_, data: string) =>
    Buffer.from(data, 'base64').toString(),
  );
}
