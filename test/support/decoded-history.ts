import { toolCallWorkflowId } from '../../src/domain/tool-call';
import type { Stack } from './stack';

/** The history of a call as text, with every payload decoded. */
export async function decodedHistory(stack: Stack, callId: string): Promise<string> {
  const handle = stack.client.workflow.getHandle(toolCallWorkflowId(stack.tenant, callId));
  const history = await handle.fetchHistory();
  return JSON.stringify(history, (_, value: unknown) =>
    isBytes(value) ? Buffer.from(value).toString() : value,
  );
}

function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array;
}
