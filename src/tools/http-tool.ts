import { findUnfaithful, type JsonObject, type JsonValue } from '../domain/json-value';
import type { RunnableHttpTool } from '../domain/runnable-tool';
import { parseStrictJson } from '../domain/strict-json';
import { expandUrl, parametersOf, scalarText } from '../domain/url-template';
import type { OutboundFailure } from '../outbound/failure';
import type { OutboundHttp, OutboundReply } from '../outbound/outbound-http';
import { resolveHeaders } from '../secrets/header-values';
import type { Secrets } from '../secrets/secrets';
import { faultResult, keptWhole, unknownOutcome, type ToolResult } from './tool-result';

/** Largest answer that is read, in bytes; what can be kept is bounded more tightly (tool-result.ts). */
const MAX_ANSWER_BYTES = 2 * 1024 * 1024;

/** Failures that come before anything is sent. */
const NOT_SENT = new Set<OutboundFailure['code']>([
  'url_refused',
  'address_refused',
  'dns_failed',
  'connection_refused',
  'tls_failed',
]);

export interface ToolRequest<Tool> {
  readonly tenant: string;
  readonly tool: Tool;
  /** What was approved. */
  readonly input: JsonValue;
  /** The same on every attempt. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  /** Told how far the tool has come, if it says so; both are finite numbers. */
  readonly onProgress?: (progress: number, total: number | undefined) => void;
}

/**
 * Runs a tool by one HTTP request. Members of the input that the URL does not take are its JSON body, or without a body
 * its query. The result holds the answer as it came: `{ status, contentType?, json | text | base64 }`.
 *
 * Rejects only when the signal is aborted.
 */
export async function runHttpTool(
  { http, secrets }: { http: OutboundHttp; secrets: Secrets },
  request: ToolRequest<RunnableHttpTool>,
): Promise<ToolResult> {
  const { tenant, tool, idempotencyKey, signal } = request;
  const made = requestOf(tool, request.input);
  if ('fault' in made) {
    return faultResult({ code: 'input_invalid', message: `It was not run: ${made.fault}.`, executed: false });
  }
  const host = new URL(made.url).hostname;
  const resolved = await resolveHeaders(secrets, { tenant, host, headers: tool.headers });
  if (!resolved.ok) {
    return faultResult({ code: resolved.code, message: `It was not run. ${resolved.text}`, executed: false });
  }
  const reply = await http.send({
    method: tool.method,
    url: made.url,
    headers: {
      accept: 'application/json, */*;q=0.5',
      'user-agent': 'portcullis',
      ...resolved.headers,
      'idempotency-key': idempotencyKey,
      ...(made.body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(made.body !== undefined && { body: made.body }),
    timeoutMs: tool.timeoutMs,
    maxAnswerBytes: MAX_ANSWER_BYTES,
    signal,
  });
  return reply.kind === 'failed' ? failedResult(reply) : answerResult(reply);
}

type MadeRequest = { readonly url: string; readonly body?: string } | { readonly fault: string };

function requestOf({ method, url: template }: RunnableHttpTool, input: JsonValue): MadeRequest {
  const named = new Set(parametersOf(template));
  const takesBody = method === 'POST' || method === 'PUT' || method === 'PATCH';
  if (!isObject(input)) {
    if (named.size > 0 || !takesBody) return { fault: 'the input is not an object' };
    return { url: template, body: JSON.stringify(input) };
  }
  const expanded = expandUrl(template, input);
  if (!expanded.ok) return { fault: expanded.fault };
  const rest = Object.entries(input).filter(([name]) => !named.has(name));
  if (takesBody) return { url: expanded.url, body: JSON.stringify(Object.fromEntries(rest)) };
  const query = new URLSearchParams();
  for (const [name, value] of rest) {
    for (const member of Array.isArray(value) ? (value as readonly JsonValue[]) : [value]) {
      const text = scalarText(member);
      if (text === undefined) return { fault: `the input's ${name} cannot be written in a query` };
      query.append(name, text);
    }
  }
  const separator = expanded.url.includes('?') ? '&' : '?';
  return { url: query.size === 0 ? expanded.url : `${expanded.url}${separator}${query.toString()}` };
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function failedResult({ code, text }: OutboundFailure): ToolResult {
  if (NOT_SENT.has(code)) return faultResult({ code, message: `It was not run. ${text}`, executed: false });
  if (code === 'answer_too_large' || code === 'answer_encoded') {
    const message = `The tool has run, but its answer was not kept. ${text}`;
    return faultResult({ code: 'result_too_large', message, executed: true });
  }
  return unknownOutcome(text);
}

function answerResult({ status, body, contentType }: Extract<OutboundReply, { kind: 'answer' }>): ToolResult {
  const response = {
    status,
    ...(contentType !== undefined && { contentType }),
    ...bodyOf(body, contentType),
  };
  if (status >= 200 && status < 300) {
    return keptWhole(response, (value) => ({ result: 'output', value, executed: true }));
  }
  return keptWhole(response, (value) =>
    faultResult({
      code: 'http_status',
      message: `The tool's server answered with status ${status}.`,
      executed: true,
      more: { response: value },
    }),
  );
}

/** JSON as JSON where that loses nothing, else text as text, else bytes. */
function bodyOf(body: Uint8Array, contentType: string | undefined): Record<string, unknown> {
  const text = utf8(body);
  if (text === undefined) return { base64: Buffer.from(body).toString('base64') };
  if (!/^[^;]*[/+]json\s*(;|$)/i.test(contentType ?? '')) return { text };
  const parsed = parseStrictJson(body);
  if (parsed.kind !== 'value' || parsed.duplicates.length > 0 || findUnfaithful(parsed.value))
    return { text };
  return { json: parsed.value };
}

function utf8(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}
