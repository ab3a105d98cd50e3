import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Annotations } from './route';

/** What the shared layers know about one request and its answer. */
export interface Exchange {
  readonly requestId: string;
  /** Aborted when the client goes before its answer is complete. */
  readonly gone: AbortSignal;
  /** The template of the matched route; never the raw path, which can hold what a client should not have put there. */
  route: string;
  annotations: Annotations;
}

const exchanges = new WeakMap<IncomingMessage, Exchange>();

export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
): Exchange {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  const exchange: Exchange = { requestId, gone: gone.signal, route: 'unmatched', annotations: {} };
  exchanges.set(request, exchange);
  return exchange;
}

/** @throws Error for a request that did not come through `createHttpApp`. */
export function exchangeOf(request: IncomingMessage): Exchange {
  const exchange = exchanges.get(request);
  if (exchange === undefined) throw new Error('the request has no exchange; was it opened by createHttpApp?');
  return exchange;
}
