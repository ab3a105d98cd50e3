import { v4 } from 'uuid';
import { canonicalJson, sha256Hex } from '../../../domain/digest';
import { readHookResult } from '../../../domain/hook-result';
import type { ResolveResult, StoredWait } from '../../../domain/stored-wait';
import { replyAgain, type AnswerInput, type ResolveReply } from '../../../domain/tool-call-answer';
import { answerWait } from '../../../domain/wait';
import { HttpProblem } from '../../http/problem';
import { KeyedTurns } from '../../keyed-turns';
import type { ToolCallGateway } from '../../temporal';
import type { NexusPrincipal } from '../nexus-principal';
import { callLocation } from '../calls/call-location';
import { keptEdit } from './kept-edit';
import { findVisibleThread } from '../profile-access';
import { canBeId } from '../stored-id';
import { answerFaults, refusalProblem } from './refusal-problem';

export interface AnswerRequest {
  readonly threadId: string;
  readonly waitId: string;
  /** A HookResult, as it was sent. */
  readonly hookResult: unknown;
  readonly subjectDigest: string | undefined;
  readonly idempotencyKey: string | undefined;
}

/** Much longer than an answer takes when Temporal and a worker are there. */
const PATIENCE_MS = 1_000;

/**
 * Takes people's answers to the workflows whose waits they are for.
 *
 * Whatever the store can refuse is refused from the store, with the rules and the data of the workflow: it takes ten
 * updates at a time, and refusals must not fill its history. Only the workflow accepts. The server's clock has no say:
 * the store's answer is taken as if no time had passed.
 */
export class WaitResolver {
  private readonly turns = new KeyedTurns(PATIENCE_MS);

  constructor(private readonly gateway: ToolCallGateway) {}

  /** @throws HttpProblem for an answer that does not count */
  async resolve(principal: NexusPrincipal, request: AnswerRequest): Promise<ResolveResult> {
    const { waitId } = request;
    const stored = await visibleWait(principal, request);
    const { input, written } = await this.prepare(principal, stored, request);
    // Resolvers of one call take turns, so that all but the first are answered from the store.
    const reply = await this.turns.run(`${principal.tenant}:${stored.callId}`, async () => {
      const before = refuseFromStore(await visibleWait(principal, request), input);
      return before ?? this.send(principal, stored, input);
    });
    if (reply.ok) return reply.result;
    if (written !== undefined) await principal.store.blobs.discard(stored.callId, written);
    throw refusalProblem(waitId, reply.refusal);
  }

  private async prepare(
    principal: NexusPrincipal,
    { wait, callId }: StoredWait,
    request: AnswerRequest,
  ): Promise<{ input: AnswerInput; written?: string }> {
    const reading = readHookResult(request.hookResult, wait.point);
    if (!reading.ok) throw answerFaults(reading.faults);
    const { decision, reason, rewrite } = reading.result;
    const { owner, scopes } = principal.key;
    const edited = rewrite && (await keptEdit(principal.store, callId, rewrite.value));
    const said = {
      decision,
      ...(reason !== undefined && { reason }),
      ...(request.subjectDigest !== undefined && { subjectDigest: request.subjectDigest }),
    };
    return {
      input: {
        waitId: wait.id,
        answerId:
          request.idempotencyKey === undefined ? v4() : sha256Hex(`${owner}\n${request.idempotencyKey}`),
        answerDigest: sha256Hex(canonicalJson({ ...said, rewrite: edited?.digest ?? null })),
        principal: { owner, scopes },
        answer: { ...said, ...(edited !== undefined && { rewrite: edited }) },
      },
      ...(edited?.kind === 'blob' && { written: edited.blob }),
    };
  }

  private async send(
    principal: NexusPrincipal,
    { callId, threadId }: StoredWait,
    input: AnswerInput,
  ): Promise<ResolveReply> {
    const reached = await this.gateway.resolve(principal.tenant, callId, input);
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
    const now = await principal.store.waits.read(input.waitId);
    return (now && refuseFromStore(now, input)) ?? { ok: false, refusal: { code: 'cancelled' } };
  }
}

/** @throws HttpProblem not-found for an unknown or foreign wait alike */
async function visibleWait(
  principal: NexusPrincipal,
  at: { threadId: string; waitId: string },
): Promise<StoredWait> {
  const thread = await findVisibleThread(principal, at.threadId);
  const stored = thread && canBeId(at.waitId) ? await principal.store.waits.read(at.waitId) : undefined;
  if (stored?.threadId !== at.threadId) throw refusalProblem(at.waitId, { code: 'unknown_wait' });
  return stored;
}

function refuseFromStore({ wait, answers }: StoredWait, input: AnswerInput): ResolveReply | undefined {
  const first = answers.find(({ answerId }) => answerId === input.answerId);
  if (first !== undefined) return replyAgain(first, input.answerDigest).reply;
  const { answer, principal } = input;
  const step = answerWait(wait, { answer, principal, now: wait.openedAt });
  return step.kind === 'refused' ? { ok: false, refusal: step.refusal } : undefined;
}
