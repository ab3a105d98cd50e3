import { HttpProblem } from '../../http/problem';
import { asUnavailable } from '../outage';
import { callLocation } from './call-location';

/** From the moment at which a call may exist, an outage of the store is told with the call's address. */
export async function addressed<Result>(
  { threadId, callId }: { threadId: string; callId: string },
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (asUnavailable(error) === error) throw error;
    throw new HttpProblem('unavailable', {
      detail:
        'the store does not answer; ask again at Location, or repeat the request under the same Idempotency-Key',
      extensions: { callId, threadId },
      headers: { Location: callLocation(threadId, callId), 'Retry-After': '1' },
      cause: error,
    });
  }
}
