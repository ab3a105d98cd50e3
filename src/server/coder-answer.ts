import type { Request, RequestHandler, Response } from 'express';
import { signAnswer } from '../coder/answer';
import type { VerifiedToken } from '../coder/token';
import { HttpProblem } from './http/problem';

const SIGNATURE_HEADER = 'Coder-Hook-Signature';

/**
 * The answer to a lifecycle event, signed with the secret that verified the event. Status, headers and bytes are settled
 * before they are signed.
 */
export async function sendSigned(response: Response, token: VerifiedToken, bytes: Buffer): Promise<void> {
  const signature = await signAnswer(token, bytes, Date.now() / 1_000);
  response.status(200).set({
    'Content-Type': 'application/json',
    'Content-Length': String(bytes.length),
    'Cache-Control': 'no-store',
    [SIGNATURE_HEADER]: signature,
  });
  response.end(bytes);
}

/** A path that takes events: POST only. */
export function eventHandler(serve: (request: Request, response: Response) => Promise<void>): RequestHandler {
  return (request, response, next) => {
    if (request.method !== 'POST') {
      next(new HttpProblem('method-not-allowed', { headers: { Allow: 'POST' } }));
      return;
    }
    serve(request, response).catch(next);
  };
}

export function unauthenticatedEvent(detail: string): HttpProblem {
  return new HttpProblem('unauthenticated', { detail, headers: { 'WWW-Authenticate': 'Bearer' } });
}
