import { setMaxListeners } from 'node:events';
import type { Agent } from 'undici';
import { request } from 'undici';
import { failureOf, OutboundError, type OutboundFailure } from './failure';
import { guardedAgent, type LookUpAll } from './guarded-connect';
import { guardedFetch } from './guarded-fetch';
import { urlFault, type OutboundRules } from './url-rules';

export interface OutboundRequest {
  /** Default POST. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** From the look-up of the name to the last byte of the answer, in milliseconds. */
  readonly timeoutMs: number;
  /** An answer that is larger is not read to its end. */
  readonly maxAnswerBytes: number;
  readonly signal?: AbortSignal;
}

export type OutboundReply =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly body: Uint8Array;
      readonly contentType?: string;
      /** Of a `Retry-After` in seconds. */
      readonly retryAfterSeconds?: number;
    }
  | OutboundFailure;

/**
 * HTTP to addresses that a profile names. No redirect is followed, nothing is decompressed, and where the request goes is
 * checked at every connection.
 */
export class OutboundHttp {
  private readonly agent: Agent;
  private readonly closing = new AbortController();

  constructor(private readonly options: { readonly rules: OutboundRules; readonly lookup?: LookUpAll }) {
    // Every connection listens.
    setMaxListeners(0, this.closing.signal);
    this.agent = guardedAgent(options.rules, this.closing.signal, options.lookup);
  }

  /** Rejects only when `signal` is aborted; then with its reason. */
  async send(sent: OutboundRequest): Promise<OutboundReply> {
    const fault = urlFault(sent.url, this.options.rules);
    if (fault !== undefined) return failed('unreachable', 'url_refused', `It was not asked: ${fault}.`);
    sent.signal?.throwIfAborted();
    const inTime = AbortSignal.timeout(sent.timeoutMs);
    const signal = sent.signal === undefined ? inTime : AbortSignal.any([inTime, sent.signal]);
    try {
      return await unlessAborted(this.exchange(sent, signal), signal);
    } catch (error) {
      sent.signal?.throwIfAborted();
      if (inTime.aborted)
        return failed('timeout', 'hook_timeout', `No answer came within ${sent.timeoutMs} ms.`);
      return failureOf(error);
    }
  }

  /**
   * The same as WHATWG `fetch`, for the SDK of a protocol whose answers are streams. No time-out but the caller's signal.
   * A redirect, a compressed answer and an event or a body of more than `maxBytes` are errors.
   * @throws OutboundError instead of what `fetch` would throw, unless the caller aborted
   */
  async fetch(url: string | URL, init: RequestInit, maxBytes: number): Promise<Response> {
    const fault = urlFault(String(url), this.options.rules);
    if (fault !== undefined)
      throw new OutboundError(failed('unreachable', 'url_refused', `It was not asked: ${fault}.`));
    return guardedFetch(this.agent, url, init, maxBytes);
  }

  async close(): Promise<void> {
    const destroyed = this.agent.destroy();
    this.closing.abort();
    await destroyed;
  }

  private async exchange(sent: OutboundRequest, signal: AbortSignal): Promise<OutboundReply> {
    const { method = 'POST', url, headers, body, maxAnswerBytes } = sent;
    const answer = await request(url, {
      method,
      dispatcher: this.agent,
      headers: { ...headers, 'accept-encoding': 'identity' },
      ...(body !== undefined && { body }),
      signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const encoding = answer.headers['content-encoding'];
    if (encoding !== undefined && String(encoding).toLowerCase() !== 'identity') {
      answer.body.on('error', () => undefined).destroy();
      return failed('invalid', 'answer_encoded', 'Its answer is compressed, which was not asked for.');
    }
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxAnswerBytes) {
        answer.body.on('error', () => undefined).destroy();
        return failed('invalid', 'answer_too_large', `Its answer is larger than ${maxAnswerBytes} bytes.`);
      }
      chunks.push(chunk);
    }
    const retryAfter = String(answer.headers['retry-after'] ?? '');
    const contentType = answer.headers['content-type'];
    return {
      kind: 'answer',
      status: answer.statusCode,
      body: Buffer.concat(chunks),
      ...(contentType !== undefined && { contentType: String(contentType) }),
      ...(/^\d{1,6}$/.test(retryAfter) && { retryAfterSeconds: Number(retryAfter) }),
    };
  }
}

/**
 * Undici heeds a signal only once there is a connection, and one may take for ever to come about. What is given up before
 * is not sent any more, even if the connection comes about later.
 */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(new Error('given up'));
    signal.addEventListener('abort', giveUp, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}

function failed(
  outcome: OutboundFailure['outcome'],
  code: OutboundFailure['code'],
  text: string,
): OutboundFailure {
  return { kind: 'failed', outcome, code, text };
}
