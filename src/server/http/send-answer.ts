import type { Request, Response } from 'express';
import type { AnyAnswer } from './answer';
import { noneMatchHolds } from './etag';
import { sendStream } from './send-stream';

/** @param closing ends a stream: the server closes. */
export async function sendAnswer(
  request: Request,
  response: Response,
  answer: AnyAnswer,
  closing: AbortSignal,
): Promise<void> {
  if ('chunks' in answer) return sendStream(request, response, answer, closing);
  // Before the head is touched: a value that cannot be JSON is still an unspoilt 500.
  const payload = payloadOf(answer);
  response.status(answer.status).set({ 'Cache-Control': defaultCaching(answer), ...answer.headers });
  if (isNotModified(request, answer)) {
    response.status(304).end();
    return;
  }
  if (payload === undefined) {
    response.end();
    return;
  }
  response.set({ 'Content-Type': payload.contentType, 'Content-Length': String(payload.bytes.length) });
  response.end(payload.bytes);
}

function payloadOf(
  answer: Exclude<AnyAnswer, { chunks: unknown }>,
): { contentType: string; bytes: Buffer } | undefined {
  if ('content' in answer) return { contentType: answer.contentType, bytes: Buffer.from(answer.content) };
  if (!('body' in answer) || answer.body === undefined) return undefined;
  return { contentType: 'application/json', bytes: Buffer.from(JSON.stringify(answer.body)) };
}

/** What belongs to a key is stored nowhere, except by the caller that will ask again with its ETag. */
function defaultCaching(answer: AnyAnswer): string {
  return answer.headers?.['ETag'] === undefined ? 'no-store' : 'private, no-cache';
}

/** Every GET that answers with an ETag honours If-None-Match. */
function isNotModified(request: Request, answer: AnyAnswer): boolean {
  const etag = answer.headers?.['ETag'];
  const header = request.headers['if-none-match'];
  if (etag === undefined || header === undefined || answer.status !== 200) return false;
  return (request.method === 'GET' || request.method === 'HEAD') && noneMatchHolds(header, etag);
}
