import type { IncomingMessage } from 'node:http';
import { HttpProblem } from './problem';

/** The client went away before its request was complete. Nobody is left to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

export function announcesBody(request: IncomingMessage): boolean {
  return (
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
  );
}

/**
 * The raw bytes of the body, never more than `limit` of them in memory. A length that is announced too large is
 * refused unread; a chunked body is counted as it comes.
 * @throws HttpProblem content-too-large; the rest of the body is still on the wire then, see `answer-problem.ts`
 * @throws ClientGone
 */
export async function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  if (request.destroyed) throw new ClientGone();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (finish: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      finish();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) settle(() => reject(tooLarge(limit)));
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks)));
    const onClose = (): void => settle(() => reject(new ClientGone()));
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

function tooLarge(limit: number): HttpProblem {
  return new HttpProblem('content-too-large', {
    detail: `the body is larger than ${limit} bytes`,
    extensions: { limit },
  });
}
