import type { StoredWait } from '../../../domain/stored-wait';
import { replyAgain, type AnswerInput, type ResolveReply } from '../../../domain/call-answer';
import { answerWait } from '../../../domain/wait';
import type { TenantStore } from '../../../store/tenant-store';
import { HttpProblem } from '../../http/problem';
import { KeyedTurns } from '../../keyed-turns';
import type { CallGateway } from '../../temporal';
import { callLocation } from '../calls/call-location';

/** Much longer than an answer takes when Temporal and a worker are there. */
const PATIENCE_MS = 1_000;

/**
 * Takes answers to the workflows whose waits they are for.
 *
 * Whatever the store can refuse is refused from the store, with the rules and the data of the workflow: it takes ten
 * updates at a time, and refusals must not fill its history. Only the workflow accepts. The server's clock has no say:
 * the store's answer is taken as if no time had passed.
 */
export class AnswerSender {
  private readonly turns = new KeyedTurns(PATIENCE_MS);

  constructor(private readonly gateway: CallGateway) {}

  /**
   * Answers of one call take turns, so that all but the first are answered from the store.
   * @param found the wait as it was stored when the answer came
   * @param current reads it again, when others had their turn in between
   * @throws HttpProblem while it is not known whether the answer counted
   */
  send(
    store: TenantStore,
    { found, current }: { found: StoredWait; current: () => Promise<StoredWait> },
    input: AnswerInput,
  ): Promise<ResolveReply> {
    return this.turns.run(`${store.tenant}:${found.callId}`, async (waited) => {
      const stored = waited ? await current() : found;
      return refuseFromStore(stored, input) ?? this.reach(store, stored, input);
    });
  }

  private async reach(
    store: TenantStore,
    { callId, threadId }: StoredWait,
    input: AnswerInput,
  ): Promise<ResolveReply> {
    const reached = await this.gateway.resolve(store.tenant, callId, input);
    switch (reached.kind) {
      case 'reply':
        if (reached.reply.ok || reached.reply.refusal.code !== 'unknown_wait') return reached.reply;
        break;
      case 'ended':
        break;
      case 'undecided':
      case 'unavailable':
        throw new HttpProblem(reached.kind === 'unavailable' ? 'unavailable' : 'decision-timeout', {
          detail: 'it is not known yet whether the answer counted; repeat it under the same Idempotency-Key',
          extensions: { waitId: input.waitId, callId },
          headers: { Location: callLocation(threadId, callId), 'Retry-After': '2' },
        });
    }
    // The wait is over for the workflow, and the store says how. Where it does not, the workflow was ended from
    // outside, and the reconciler has not been there yet.
    const now = await store.waits.read(input.waitId);
    return (now && refuseFromStore(now, input)) ?? { ok: false, refusal: { code: 'cancelled' } };
  }
}

function refuseFromStore({ wait, answers }: StoredWait, input: AnswerInput): ResolveReply | undefined {
  const first = answers.find(({ answerId }) => answerId === input.answerId);
  if (first !== undefined) return replyAgain(first, input.answerDigest).reply;
  const { answer, principal } = input;
  const step = answerWait(wait, { answer, principal, now: wait.openedAt });
  return step.kind === 'refused' ? { ok: false, refusal: step.refusal } : undefined;
}
