import { v4 } from 'uuid';
import { canonicalJson, sha256Hex } from '../../../domain/digest';
import { readHookResult } from '../../../domain/hook-result';
import type { ResolveResult, StoredWait } from '../../../domain/stored-wait';
import type { AnswerInput } from '../../../domain/call-answer';
import type { NexusPrincipal } from '../nexus-principal';
import { keptEdit } from './kept-edit';
import { findVisibleThread } from '../profile-access';
import { canBeId } from '../stored-id';
import type { AnswerSender } from './answer-sender';
import { answerFaults, refusalProblem } from './refusal-problem';

export interface AnswerRequest {
  readonly threadId: string;
  readonly waitId: string;
  /** A HookResult, as it was sent. */
  readonly hookResult: unknown;
  readonly subjectDigest: string | undefined;
  readonly idempotencyKey: string | undefined;
}

/** Takes people's answers. */
export class WaitResolver {
  constructor(private readonly sender: AnswerSender) {}

  /** @throws HttpProblem for an answer that does not count */
  async resolve(principal: NexusPrincipal, request: AnswerRequest): Promise<ResolveResult> {
    const { waitId } = request;
    const stored = await visibleWait(principal, request);
    const { input, written } = await this.prepare(principal, stored, request);
    const current = () => visibleWait(principal, request);
    const reply = await this.sender.send(principal.store, { found: stored, current }, input);
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
}

/** @throws HttpProblem not-found for an unknown or foreign wait alike */
async function visibleWait(
  principal: NexusPrincipal,
  at: { threadId: string; waitId: string },
): Promise<StoredWait> {
  const [thread, stored] = await Promise.all([
    findVisibleThread(principal, at.threadId),
    canBeId(at.waitId) ? principal.store.waits.read(at.waitId) : undefined,
  ]);
  if (thread === undefined || stored?.threadId !== at.threadId)
    throw refusalProblem(at.waitId, { code: 'unknown_wait' });
  return stored;
}
