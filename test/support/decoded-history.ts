import { callWorkflowId } from '../../src/domain/call';
import { turnWorkflowId } from '../../src/domain/turn';
import type { Stack } from './stack';

/** The id of a turn's workflow is asked for as `turn:<id of the turn>`. */
export function workflowIdOf(tenant: string, id: string): string {
  const turnId = /^turn:(.+)$/.exec(id)?.[1];
  return turnId === undefined ? callWorkflowId(tenant, id) : turnWorkflowId(tenant, turnId);
}

/** All of a workflow's history as text, with its payloads as they were before they were encoded. */
export async function decodedHistory(stack: Stack, id: string): Promise<string> {
  const handle = stack.client.workflow.getHandle(workflowIdOf(stack.tenant, id));
  // Protocol Buffers' JSON writes bytes as base64; payloads are the members `data`.
  const json = JSON.stringify(await handle.fetchHistory());
  return json.replaceAll(/"data":"([A-Za-z0-9+/=]*)"/g, (_, data: string) =>
    Buffer.from(data, 'base64').toString(),
  );
}
