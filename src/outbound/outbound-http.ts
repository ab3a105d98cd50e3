import { setMaxListeners } from 'node:events';
import type { Agent } from 'undici';
import { request } from 'undici';
import { failureOf, type OutboundFailure } from './failure';
import { guardedAgent, type LookUpAll } from './guarded-connect';
import { urlFault, type OutboundRules } from './url-rules';

export interface OutboundPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
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
  async post(post: OutboundPost): Promise<OutboundReply> {
    const fault = urlFault(post.url, this.options.rules);
    if (fault !== undefined) return failed('unreachable', 'url_refused', `It was not asked: ${fault}.`);
    post.signal?.throwIfAborted();
    const inTime = AbortSignal.timeout(post.timeoutMs);
    const signal = post.signal === undefined ? inTime : AbortSignal.any([inTime, post.signal]);
    try {
      return await unlessAborted(this.send(post, signal), signal);
    } catch (error) {
      post.signal?.throwIfAborted();
      if (inTime.aborted)
        return failed('timeout', 'hook_timeout', `No answer came within ${post.timeoutMs} ms.`);
      return failureOf(error);
    }
  }

  async close(): Promise<void> {
    const destroyed = this.agent.destroy();
    this.closing.abort();
    await destroyed;
  }

  private async send(post: OutboundPost, signal: AbortSignal): Promise<OutboundReply> {
    const { url, headers, body, maxAnswerBytes } = post;
    const answer = await request(url, {
      method: 'POST',
      dispatcher: this.agent,
      headers: { ...headers, 'accept-encoding': 'identity' },
      body,
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
    return {
      kind: 'answer',
      status: answer.statusCode,
      body: Buffer.concat(chunks),
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
