import type { ErrorRequestHandler, Request, Response } from 'express';
import { ClientGone } from './body-bytes';
import { exchangeOf } from './exchange';
import { HttpProblem, PROBLEM_MEDIA_TYPE } from './problem';

/** Bytes and time that are spent on reading on, so that a client which is still sending can read its answer. */
const DRAIN_BYTES = 16 * 1_048_576;
const DRAIN_MS = 2_000;

/** The last handler of the app: whatever was thrown becomes one problem document. */
export const answerProblem: ErrorRequestHandler = (error: unknown, request, response, _next) => {
  const { requestId, gone } = exchangeOf(request);
  if (gone.aborted || error instanceof ClientGone) {
    response.destroy();
    return;
  }
  const problem = problemOf(error);
  if (problem.status >= 500) request.log.error({ err: problem.cause ?? error }, 'request failed');
  if (response.headersSent) {
    // Half an answer is out: breaking the connection is the only way left to say that it is not whole.
    response.destroy();
    return;
  }
  sendProblem(request, response, problem, requestId);
};

/** What is not a problem already tells the caller nothing. */
function problemOf(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error;
  if (error instanceof URIError) {
    return new HttpProblem('malformed-request', { detail: 'the percent-encoding of the path is not UTF-8' });
  }
  return new HttpProblem('internal', { cause: error });
}

function sendProblem(request: Request, response: Response, problem: HttpProblem, requestId: string): void {
  const document = Buffer.from(JSON.stringify(problem.toDocument(requestId)));
  response.status(problem.status).set({
    'Cache-Control': 'no-store',
    ...problem.headers,
    'Content-Type': PROBLEM_MEDIA_TYPE,
    'Content-Length': String(document.length),
  });
  if (problem.code === 'content-too-large') endAfterDraining(request, response, document);
  else response.end(document);
}

/**
 * Closing a socket with unread bytes in it resets the connection, and the client may never see the answer. So the
 * answer goes out first, and the connection closes when the client has stopped sending or has sent enough.
 */
function endAfterDraining(request: Request, response: Response, document: Buffer): void {
  response.set('Connection', 'close');
  if (request.method === 'HEAD') response.flushHeaders();
  else response.write(document);
  let drained = 0;
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, DRAIN_MS);
  request.on('data', (chunk: Buffer) => {
    drained += chunk.length;
    if (drained > DRAIN_BYTES) end();
  });
  if (request.readableEnded) end();
  request.once('end', end).once('close', end).resume();
}
