import type { StreamAnswer } from './answer';

const NDJSON_MEDIA_TYPE = 'application/x-ndjson';

/**
 * One JSON value per line. A failure before the first value is still a problem; a failure after it breaks the
 * connection, so that a reader cannot take half a list for the whole.
 */
export function ndjson(
  source: (stop: AbortSignal) => AsyncIterable<unknown>,
  options: { readonly headers?: Readonly<Record<string, string>> } = {},
): StreamAnswer {
  return {
    status: 200,
    contentType: NDJSON_MEDIA_TYPE,
    headers: { 'Cache-Control': 'no-store', ...options.headers },
    headFirst: false,
    chunks: async function* (stop) {
      for await (const value of source(stop)) yield `${JSON.stringify(value)}\n`;
    },
  };
}
