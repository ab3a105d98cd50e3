import { fetch as undiciFetch, type Agent, type RequestInit as UndiciInit } from 'undici';
import { failureOf, OutboundError, type OutboundFailure } from './failure';

/** `fetch` over a guarded agent: what is followed, decompressed or too large there is an error here. */
export async function guardedFetch(
  agent: Agent,
  url: string | URL,
  init: RequestInit,
  maxBytes: number,
): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set('accept-encoding', 'identity');
  let response: Pick<Response, 'status' | 'statusText' | 'headers' | 'body'>;
  try {
    // Undici's own fetch takes its own agent; its types and the global ones differ in name only.
    response = await undiciFetch(url, {
      ...init,
      headers: Object.fromEntries(headers),
      redirect: 'manual',
      dispatcher: agent,
    } as unknown as UndiciInit);
  } catch (error) {
    init.signal?.throwIfAborted();
    throw new OutboundError(failureOf(error), { cause: error });
  }
  const refused = refusalOf(response);
  if (refused === undefined) return bounded(response, maxBytes);
  await response.body?.cancel();
  throw new OutboundError(refused);
}

function refusalOf({ status, headers }: Pick<Response, 'status' | 'headers'>): OutboundFailure | undefined {
  if (status >= 300 && status < 400) {
    const text = `It answered with a redirect (${status}), which is not followed.`;
    return { kind: 'failed', outcome: 'invalid', code: 'redirected', text };
  }
  const encoding = headers.get('content-encoding');
  if (encoding === null || encoding.toLowerCase() === 'identity') return undefined;
  const text = 'Its answer is compressed, which was not asked for.';
  return { kind: 'failed', outcome: 'invalid', code: 'answer_encoded', text };
}

/** Bounds a body, and of a stream of events each event: one that never ends would fill the memory. */
function bounded(
  { body, status, statusText, headers }: Pick<Response, 'status' | 'statusText' | 'headers' | 'body'>,
  maxBytes: number,
): Response {
  const init = { status, statusText, headers: Object.fromEntries(headers) };
  if (body === null) return new Response(null, init);
  const isEvents = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
  let size = 0;
  const counted = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const end = isEvents ? endOfLastEvent(chunk) : -1;
        size = end === -1 ? size + chunk.length : chunk.length - end;
        if (size <= maxBytes) {
          controller.enqueue(chunk);
          return;
        }
        const text = `Its answer is larger than ${maxBytes} bytes.`;
        const failure = { kind: 'failed', outcome: 'invalid', code: 'answer_too_large', text } as const;
        controller.error(new OutboundError(failure));
      },
    }),
  );
  return new Response(counted, init);
}

/** Where the last blank line of a chunk ends; -1 without one. */
function endOfLastEvent(chunk: Uint8Array): number {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\r\n\r\n'));
}
