import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { RunnableTool } from '../../../domain/runnable-tool';
import { partsOf } from '../../../domain/schema-faults';
import type { CallView } from '../views/call';

/** What Portcullis adds to results is under this name (MCP 2025-11-25, `_meta`). */
const CALL_META = 'portcullis/call';

/**
 * A call as the result of a tool. A denial is a result that says so and is marked as an error: the model reads it, and no
 * client ends its session over it.
 */
export function toolAnswer(view: CallView, kind: RunnableTool['kind']): CallToolResult {
  const { id, threadId, status, executed, denial } = view;
  const meta = {
    [CALL_META]: {
      id,
      threadId,
      status,
      ...(executed !== undefined && { executed }),
      ...(denial !== undefined && { denial }),
    },
  };
  const result = resultOf(view, kind);
  return { ...result, _meta: { ...result._meta, ...meta } };
}

function resultOf(
  { status, output, error, denial, executed }: CallView,
  kind: RunnableTool['kind'],
): CallToolResult {
  if (denial !== undefined) return refusal(denialText(denial));
  if (status === 'completed') return kind === 'mcp' ? ownResult(output) : httpResult(output);
  if (status === 'failed') return failure(error);
  if (status === 'running')
    return refusal('The tool is running, and the service stops. Do not repeat the call before you know.');
  return refusal(
    `The call is ${status}. ${executed === undefined ? 'The tool has not run.' : `Whether the tool has run: ${String(executed)}.`}`,
  );
}

/** A problem of the service itself, told as a result: nothing is known that the model could not be told. */
export function refusal(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

/** What an MCP server gave, as it is, unless hooks have made something else of it. */
function ownResult(output: unknown): CallToolResult {
  // `keptWhole` has kept it as the server gave it; its shape is the server's matter.
  if (Array.isArray(partsOf(output)['content'])) return output as CallToolResult;
  return { content: [{ type: 'text', text: JSON.stringify(output) }] };
}

/** What an HTTP server gave: JSON as text and as structure, text as text, bytes as what they are. */
function httpResult(output: unknown): CallToolResult {
  const { json, text, base64, contentType } = partsOf(output);
  if (typeof text === 'string') return { content: [{ type: 'text', text }] };
  if (typeof base64 === 'string') return { content: [bytes(base64, contentType)] };
  const value = json === undefined ? output : json;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return {
    content: [{ type: 'text', text: JSON.stringify(value) }],
    ...(isObject && { structuredContent: { ...value } }),
  };
}

function bytes(data: string, contentType: unknown): CallToolResult['content'][number] {
  const mimeType = (typeof contentType === 'string' ? contentType.split(';', 1)[0]?.trim() : undefined) ?? '';
  if (mimeType.startsWith('image/')) return { type: 'image', data, mimeType };
  if (mimeType.startsWith('audio/')) return { type: 'audio', data, mimeType };
  const resource = { uri: 'portcullis:output', blob: data, ...(mimeType !== '' && { mimeType }) };
  return { type: 'resource', resource };
}

/** An error that an MCP server reported is told in the server's own words. */
function failure(error: unknown): CallToolResult {
  const { code, result, message } = partsOf(error);
  if (code === 'tool_error' && Array.isArray(partsOf(result)['content'])) {
    return { ...(result as CallToolResult), isError: true };
  }
  const text = typeof message === 'string' ? message : 'The tool failed.';
  return {
    content: [
      { type: 'text', text },
      { type: 'text', text: JSON.stringify(error) },
    ],
    isError: true,
  };
}

const DENIED_BY = {
  human: 'A person denied this call',
  policy: 'A policy denied this call',
  permission: 'The permissions of this agent deny this call',
  timeout: 'Nobody answered for this call in time, so it is denied',
  hook_failure: 'A check of this call failed, so it is denied',
  cancelled: 'The call was given up',
  pending: 'The call is not decided yet',
} as const satisfies Record<NonNullable<CallView['denial']>['by'], string>;

function denialText({ by, hookId, reason, executed }: NonNullable<CallView['denial']>): string {
  const hook = hookId === undefined || by === 'pending' ? '' : ` (${hookId})`;
  const text = reason.text ?? '';
  const ran = {
    true: 'The tool has run.',
    false: 'The tool has not run.',
    unknown: 'The tool may have run; do not repeat the call before you know.',
  }[String(executed) as 'true' | 'false' | 'unknown'];
  return [`${DENIED_BY[by]}${hook}.`, ...(text.startsWith('The tool') ? [] : [ran]), text].join(' ').trim();
}
