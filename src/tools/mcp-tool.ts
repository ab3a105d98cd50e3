import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../domain/json-value';
import { schemaDigest, type RunnableMcpTool } from '../domain/runnable-tool';
import { OutboundError } from '../outbound/failure';
import type { ToolRequest } from './http-tool';
import { isConnectionClosed, isRequestTimeout, isUnknownMethod } from './mcp-connection';
import { AnswerLost } from './lost-answers';
import type { McpServers } from './mcp-servers';
import { ServerUnusable } from './mcp-transports';
import { faultResult, keptWhole, unknownOutcome, type ToolResult } from './tool-result';

/**
 * Calls a tool of an MCP server. The server is asked first whether it still has the tool with the schema under which the
 * call was judged: what was approved is what runs, or nothing does. The result is the server's `CallToolResult` as it is.
 *
 * Rejects only when the signal is aborted.
 */
export async function runMcpTool(
  servers: McpServers,
  { tenant, tool, input, idempotencyKey, signal, onProgress }: ToolRequest<RunnableMcpTool>,
): Promise<ToolResult> {
  const { server: address, remoteName, timeoutMs } = tool;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    const message = 'It was not run: the input is not an object.';
    return faultResult({ code: 'input_invalid', message, executed: false });
  }
  const at = { tenant, address };
  try {
    const declared = await servers.list(at, { fresh: true, signal });
    const found = declared.find(({ name }) => name === remoteName);
    if (found === undefined) return notRun('tool_gone', 'Its server does not offer the tool any more.');
    if (schemaDigest(found.inputSchema) !== tool.schemaDigest) {
      return notRun('tool_changed', 'Its server has changed what the tool takes since the call was made.');
    }
  } catch (error) {
    signal.throwIfAborted();
    return unreachable(error);
  }
  try {
    const result = await servers.call(at, {
      name: remoteName,
      // An array is excluded above, which the compiler does not see of a readonly one.
      input: input as JsonObject,
      idempotencyKey,
      timeoutMs,
      signal,
      ...(onProgress !== undefined && { onProgress }),
    });
    return answerResult(result);
  } catch (error) {
    signal.throwIfAborted();
    return failedCall(error);
  }
}

function answerResult(result: Readonly<Record<string, unknown>>): ToolResult {
  if (result['isError'] !== true) {
    return keptWhole(result, (value) => ({ result: 'output', value, executed: true }));
  }
  return keptWhole(result, (value) =>
    faultResult({
      code: 'tool_error',
      message: 'The tool ran and reported an error.',
      executed: true,
      more: { result: value },
    }),
  );
}

/** The server could not even be asked for its tools. */
function unreachable(error: unknown): ToolResult {
  if (error instanceof ServerUnusable) return notRun(error.code, error.message);
  if (error instanceof OutboundError) return notRun(error.failure.code, error.failure.text);
  return notRun('server_unreachable', 'Its MCP server does not answer as it should.');
}

function failedCall(error: unknown): ToolResult {
  if (error instanceof ServerUnusable) return notRun(error.code, error.message);
  if (error instanceof OutboundError) {
    const { code, text } = error.failure;
    return NOT_SENT.has(code) ? notRun(code, text) : unknownOutcome(text);
  }
  if (error instanceof StreamableHTTPError) return refusedByHttp(error);
  if (error instanceof AnswerLost)
    return unknownOutcome('Its server ended the connection before it answered.');
  if (isRequestTimeout(error)) return unknownOutcome('Its server did not answer in time.');
  if (isConnectionClosed(error)) return unknownOutcome('Its server went before it answered.');
  if (!(error instanceof McpError)) return unknownOutcome('What came of it could not be read.');
  // Servers answer `invalid params` also when a tool has run and what it gave is not to their own liking.
  const executed = isUnknownMethod(error) ? false : 'unknown';
  return keptWhole(error.message, (message) =>
    faultResult({
      code: 'protocol_error',
      message:
        executed === false
          ? 'It was not run: its server takes no calls of tools.'
          : 'Its server answered with an error of the protocol. The tool may have run.',
      executed,
      more: { error: { code: error.code, message } },
    }),
  );
}

const NOT_SENT = new Set([
  'url_refused',
  'address_refused',
  'dns_failed',
  'connection_refused',
  'tls_failed',
]);

/** The server's HTTP side answered in the place of the tool. Below 500 it did not take the call. */
function refusedByHttp({ code = -1 }: StreamableHTTPError): ToolResult {
  const text = `Its server answered the call with HTTP status ${code}.`;
  return code >= 400 && code < 500 ? notRun('http_status', text) : unknownOutcome(text);
}

function notRun(code: string, text: string): ToolResult {
  return faultResult({ code, message: `It was not run. ${text}`, executed: false });
}
