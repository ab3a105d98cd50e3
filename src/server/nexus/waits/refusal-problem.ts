import type { ResolveRefusal } from '../../../domain/call-answer';
import { faultsProblem } from '../../http/fault';
import { HttpProblem } from '../../http/problem';
import { outcomeView } from '../views/resolution';

/** What a resolver is told whose answer did not count. */
export function refusalProblem(waitId: string, refusal: ResolveRefusal): HttpProblem {
  const extensions = { waitId };
  switch (refusal.code) {
    case 'unknown_wait':
      return new HttpProblem('not-found', { detail: 'no such wait in this thread' });
    case 'already_resolved':
      return new HttpProblem('wait-resolved', {
        detail: 'somebody answered this wait before',
        extensions: { ...extensions, outcome: outcomeView(refusal.outcome) },
      });
    case 'expired':
      return new HttpProblem('wait-expired', { extensions });
    case 'cancelled':
      return new HttpProblem('wait-cancelled', { extensions });
    case 'digest_mismatch':
      return new HttpProblem('digest-mismatch', {
        detail: 'the value that waits is not the one that was judged',
        extensions: { ...extensions, subjectDigest: refusal.subjectDigest },
      });
    case 'not_an_approver':
      return new HttpProblem('not-an-approver', { extensions });
    case 'own_call':
      return new HttpProblem('own-call', { extensions });
    case 'operator_signal_off':
      return new HttpProblem('forbidden', {
        detail: 'answers from the Temporal UI and command line are turned off',
      });
    case 'digest_required':
      return new HttpProblem('digest-required', { detail: 'send the subjectDigest of the wait', extensions });
    case 'defer_skips_quorum':
      return new HttpProblem('defer-skips-quorum', { extensions });
    case 'answer_id_reused':
      return new HttpProblem('idempotency-key-reused', {
        detail: 'this Idempotency-Key was used for another answer to this wait',
        extensions,
      });
  }
}

export function answerFaults(faults: readonly { pointer: string; detail: string }[]): HttpProblem {
  return faultsProblem(faults.map((fault) => ({ in: 'body', ...fault })));
}
