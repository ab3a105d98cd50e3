import type { CallState } from '../../../domain/call-state';
import { HttpProblem } from '../../http/problem';
import { callLocation } from './call-location';

/** The state, when it is that of the very request whose digest this is. @throws HttpProblem idempotency-key-reused */
export function sameRequest<State extends CallState>(state: State, digest: string): State {
  const { call } = state;
  if (call.requestDigest === digest) return state;
  throw new HttpProblem('idempotency-key-reused', {
    detail: 'this Idempotency-Key was used in this thread for another request',
    extensions: { callId: call.id, requestDigest: call.requestDigest },
    headers: { Location: callLocation(call.threadId, call.id) },
  });
}

export function threadClosed(): HttpProblem {
  return new HttpProblem('thread-closed', { detail: 'the thread was closed and takes no new calls' });
}
