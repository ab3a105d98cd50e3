import { once } from 'node:events';
import type { Request, Response } from 'express';
import type { StreamAnswer } from './answer';
import { eitherAborted } from './either-aborted';
import { exchangeOf } from './exchange';
import { orStopped, untilStopped } from './until-stopped';

/**
 * Writes a stream as fast as the client reads and no faster: the next chunk is asked for only when the last one
 * has left the buffer. Ends when the source ends, the client goes, or the server closes.
 * @throws what the source throws; before the head is out that can still become a problem
 */
export async function sendStream(
  request: Request,
  response: Response,
  answer: StreamAnswer,
  closing: AbortSignal,
): Promise<void> {
  const sendHead = (): void => {
    if (response.headersSent) return;
    response.status(answer.status).set({ ...answer.headers, 'Content-Type': answer.contentType });
    response.flushHeaders();
  };
  if (answer.headFirst || request.method === 'HEAD') sendHead();
  const { signal: stop, release } = eitherAborted(exchangeOf(request).gone, closing);
  const silence = startKeepAlive(response, answer.keepAlive);
  try {
    const chunks = request.method === 'HEAD' ? [] : untilStopped(answer.chunks(stop), stop);
    for await (const chunk of chunks) {
      if (stop.aborted) break;
      sendHead();
      silence?.refresh();
      if (!response.write(chunk)) await orStopped(once(response, 'drain'), stop);
    }
    sendHead();
    response.end();
  } finally {
    clearInterval(silence);
    release();
  }
}

/** A client that does not read gets no keep-alives either: they would only pile up. */
function startKeepAlive(
  response: Response,
  keepAlive: StreamAnswer['keepAlive'],
): NodeJS.Timeout | undefined {
  if (keepAlive === undefined) return undefined;
  return setInterval(() => {
    if (!response.writableNeedDrain) response.write(keepAlive.chunk);
  }, keepAlive.everyMs);
}
