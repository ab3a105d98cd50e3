import type { StreamAnswer } from './answer';

export interface SseEvent {
  /** What the client sends back in Last-Event-ID. */
  readonly id?: string;
  readonly event?: string;
  /** Any JSON value; written as one line. */
  readonly data: unknown;
}

export interface SseOptions {
  /** A comment goes out after this much silence, so that proxies keep the connection. Default 15 000 ms. */
  readonly keepAliveMs?: number;
  /** How long a client waits before it connects again. Default 3000 ms. */
  readonly retryMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A `text/event-stream` answer (WHATWG HTML §9.2). The head goes out at once.
 * @param source must end by itself when `stop` is aborted: the client has gone or the server closes
 */
export function sse(
  source: (stop: AbortSignal) => AsyncIterable<SseEvent>,
  options: SseOptions = {},
): StreamAnswer {
  const retry = `retry: ${options.retryMs ?? 3_000}\n\n`;
  return {
    status: 200,
    contentType: 'text/event-stream; charset=utf-8',
    // `X-Accel-Buffering` keeps nginx from holding events back.
    headers: { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no', ...options.headers },
    headFirst: true,
    keepAlive: { everyMs: options.keepAliveMs ?? 15_000, chunk: ': keep-alive\n\n' },
    chunks: async function* (stop) {
      yield retry;
      for await (const event of source(stop)) yield formatEvent(event);
    },
  };
}

function formatEvent(event: SseEvent): string {
  const id = event.id === undefined ? '' : `id: ${oneLine(event.id)}\n`;
  const name = event.event === undefined ? '' : `event: ${oneLine(event.event)}\n`;
  return `${id}${name}data: ${JSON.stringify(event.data)}\n\n`;
}

/** A line break would end the field, and U+0000 makes clients ignore an id. */
function oneLine(text: string): string {
  if (/[\r\n\0]/.test(text)) throw new Error('an SSE id or event name must be one line');
  return text;
}
