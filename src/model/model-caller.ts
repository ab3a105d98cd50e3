import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV3GenerateResult } from '@ai-sdk/provider';
import { findUnfaithful, jsonBytes, MAX_JSON_BYTES, type JsonValue } from '../domain/json-value';
import type { ModelConfiguration } from '../domain/model-schema';
import { parseStrictJson } from '../domain/strict-json';
import type { OutboundHttp, OutboundReply } from '../outbound/outbound-http';
import type { Secrets } from '../secrets/secrets';
import { promptOf, type Message } from './prompt';
import { WireNames } from './wire-names';

export interface ModelRequest {
  readonly tenant: string;
  readonly model: ModelConfiguration;
  readonly instructions?: string;
  readonly messages: readonly Message[];
  readonly tools: readonly OfferedTool[];
  /** The last message is to be JSON of this schema. */
  readonly json?: { readonly name: string; readonly schema: JsonValue };
  readonly signal: AbortSignal;
}

export interface OfferedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: JsonValue;
}

/** A call that a model asks for. `fault` says why it cannot be made: the words are for the model. */
export type WantedCall =
  | {
      readonly toolUseId: string;
      readonly tool: string;
      readonly input: JsonValue;
      readonly fault?: undefined;
    }
  | { readonly toolUseId: string; readonly tool: string; readonly input: null; readonly fault: string };

export type ModelReply =
  { readonly kind: 'answer'; readonly text: string; readonly calls: readonly WantedCall[] } | ModelFailure;

export interface ModelFailure {
  readonly kind: 'failed';
  /** For programs. */
  readonly code: string;
  /** For people: never a word of what the model or its server sent. */
  readonly text: string;
  /** Whether another attempt may come to something else. */
  readonly retry: boolean;
  readonly retryAfterSeconds?: number;
}

/** Largest answer of a model's server, in bytes. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** Failures that no other attempt would mend. */
const FINAL = new Set(['url_refused', 'address_refused', 'answer_too_large', 'answer_encoded']);

/** "Not now" (RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4); so is every 5xx. */
const NOT_NOW = [408, 409, 425, 429];

/**
 * Calls a language model over an OpenAI-compatible API: once, without a retry, under the address rules of all outbound
 * HTTP. Nothing but the profile's configuration says where to and with which secret.
 */
export class ModelCaller {
  constructor(private readonly given: { readonly http: OutboundHttp; readonly secrets: Secrets }) {}

  /** Rejects only when `signal` is aborted. */
  async call(request: ModelRequest): Promise<ModelReply> {
    const { tenant, model, instructions, messages, tools, json, signal } = request;
    const key = await this.apiKey(tenant, model);
    if (typeof key === 'object' && 'kind' in key) return key;
    const names = new WireNames(tools.map(({ name }) => name));
    const sent = this.guardedFetch(model, signal);
    const provider = createOpenAICompatible({
      name: 'model',
      baseURL: model.baseUrl,
      supportsStructuredOutputs: true,
      fetch: sent.fetch,
      ...(key !== undefined && { apiKey: key }),
    });
    try {
      const result = await provider.chatModel(model.name).doGenerate({
        prompt: promptOf(instructions, messages, names),
        maxOutputTokens: model.maxOutputTokens,
        abortSignal: signal,
        ...(json !== undefined && {
          responseFormat: {
            type: 'json' as const,
            name: json.name,
            schema: json.schema as Record<string, never>,
          },
        }),
        ...(tools.length > 0 && {
          tools: tools.map(({ name, description, inputSchema }) => ({
            type: 'function' as const,
            name: names.wireName(name),
            ...(description !== undefined && { description }),
            // The schema of a profile's tool has passed the schema of profiles.
            inputSchema: (inputSchema ?? { type: 'object' }) as Record<string, never>,
          })),
        }),
      });
      return readResult(result, names);
    } catch (error) {
      signal.throwIfAborted();
      return failureOf(sent.reply(), error);
    }
  }

  private async apiKey(
    tenant: string,
    { apiKey, baseUrl }: ModelConfiguration,
  ): Promise<string | undefined | ModelFailure> {
    if (apiKey === undefined) return undefined;
    const reading = await this.given.secrets.values(tenant, apiKey, new URL(baseUrl).hostname);
    if (reading.ok) return reading.values[0];
    return { kind: 'failed', code: reading.code, text: reading.text, retry: false };
  }

  /** What the SDK takes for `fetch`: one POST through the guarded client, and what came of it. */
  private guardedFetch(model: ModelConfiguration, signal: AbortSignal) {
    let reply: OutboundReply | undefined;
    const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
      if (typeof init?.body !== 'string') throw new Error('the SDK sends a text');
      reply = await this.given.http.send({
        url: typeof url === 'string' ? url : url instanceof URL ? url.href : url.url,
        headers: Object.fromEntries(new Headers(init.headers)),
        body: init.body,
        timeoutMs: model.timeoutMs,
        maxAnswerBytes: MAX_ANSWER_BYTES,
        signal,
      });
      if (reply.kind === 'failed') throw new Error(reply.code);
      const headers = { 'content-type': 'application/json' };
      return new Response(reply.status === 204 ? null : Buffer.from(reply.body), {
        status: reply.status,
        headers,
      });
    };
    return { fetch, reply: () => reply };
  }
}

function failureOf(reply: OutboundReply | undefined, error: unknown): ModelFailure {
  if (reply === undefined) throw error;
  if (reply.kind === 'failed') {
    const code = reply.code === 'hook_timeout' ? 'model_timeout' : reply.code;
    return { kind: 'failed', code, text: reply.text, retry: !FINAL.has(reply.code) };
  }
  const { status, retryAfterSeconds } = reply;
  if (status === 200) {
    return { kind: 'failed', code: 'answer_invalid', text: 'Its answer is no chat completion.', retry: true };
  }
  return {
    kind: 'failed',
    code: 'http_status',
    text: `The model's server answered with status ${status}.`,
    retry: status >= 500 || NOT_NOW.includes(status),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

function readResult({ content }: LanguageModelV3GenerateResult, names: WireNames): ModelReply {
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  const calls = content.flatMap((part) =>
    part.type === 'tool-call' ? [wantedCall(part.toolCallId, part.toolName, part.input, names)] : [],
  );
  if (!text.isWellFormed()) {
    return { kind: 'failed', code: 'answer_invalid', text: 'Its text is not well-formed.', retry: true };
  }
  if (jsonBytes(text) > MAX_JSON_BYTES) {
    const why = `Its text is larger than ${MAX_JSON_BYTES} bytes of JSON.`;
    return { kind: 'failed', code: 'answer_too_large', text: why, retry: false };
  }
  return { kind: 'answer', text, calls };
}

function wantedCall(id: string, wireName: string, input: string, names: WireNames): WantedCall {
  const toolUseId = id.toWellFormed().slice(0, 256) || 'none';
  const tool = names.toolOf(wireName);
  if (tool === undefined) {
    const shown = wireName.toWellFormed().slice(0, 256);
    return { toolUseId, tool: shown, input: null, fault: 'no tool of this name is offered' };
  }
  const parsed = parseStrictJson(Buffer.from(input));
  if (parsed.kind !== 'value')
    return { toolUseId, tool, input: null, fault: 'the arguments are not one JSON value' };
  if (parsed.duplicates.length > 0)
    return { toolUseId, tool, input: null, fault: 'the arguments repeat a member name' };
  const unfaithful = findUnfaithful(parsed.value);
  if (unfaithful !== undefined) {
    return { toolUseId, tool, input: null, fault: `at ${unfaithful.pointer}: ${unfaithful.problem}` };
  }
  if (jsonBytes(parsed.value) > MAX_JSON_BYTES) {
    return { toolUseId, tool, input: null, fault: `the arguments are larger than ${MAX_JSON_BYTES} bytes` };
  }
  // Checked above: what findUnfaithful accepts is a JSON value.
  return { toolUseId, tool, input: parsed.value as JsonValue };
}
