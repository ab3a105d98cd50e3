import { HttpProblem } from '../../http/problem';
import type { Started } from '../../temporal';
import type { NexusPrincipal } from '../nexus-principal';
import { callLocation } from './call-location';

/**
 * A call without an outcome in time. It is not allowed, and not lost: when the request reached Temporal the call is
 * decided as soon as it can be, and is found at its address.
 */
export function notDecidedProblem(
  started: Started,
  { threadId, callId }: { threadId: string; callId: string },
  { tenant }: NexusPrincipal,
): HttpProblem {
  const unavailable = started.kind === 'unavailable';
  return new HttpProblem(unavailable ? 'unavailable' : 'decision-timeout', {
    detail: unavailable
      ? 'the workflow service cannot be reached; ask again at Location, or repeat the request under the same Idempotency-Key'
      : 'no decision came in time; ask again at Location, or repeat the request under the same Idempotency-Key',
    extensions: { callId, threadId, tenant },
    headers: { Location: callLocation(threadId, callId), 'Retry-After': '2' },
    ...(started.kind === 'unavailable' && { cause: started.cause }),
  });
}

/** The call that a caller was told nothing of in time and that may go on; nothing for a problem of another kind. */
export function undecidedCallOf(problem: HttpProblem): string | undefined {
  if (problem.code !== 'unavailable' && problem.code !== 'decision-timeout') return undefined;
  const { callId } = problem.toDocument(undefined);
  return typeof callId === 'string' ? callId : undefined;
}
