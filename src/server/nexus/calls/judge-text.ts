import { v4 } from 'uuid';
import { textIdOf, textRequestDigest, type TextStart } from '../../../domain/call';
import { callFacts } from '../../../domain/call-facts';
import { openCall } from '../../../domain/call-machine';
import { textState, type CallState, type TextState } from '../../../domain/call-state';
import type { JsonValue } from '../../../domain/json-value';
import { hookMatches } from '../../../domain/matching';
import type { TextPoint } from '../../../domain/point';
import { pinForText } from '../../../domain/profile';
import { keepQuarantined } from '../../../store/keep-subject';
import type { ThreadRecord } from '../../../store/threads';
import type { CallGateway } from '../../temporal';
import type { NexusPrincipal } from '../nexus-principal';
import { visibleThread } from '../profile-access';
import { addressed } from './addressed';
import { callIdFor } from './call-id';
import { decide } from './decide';
import { readAhead, resolved, startBase, type PreparedStart, type ReadAhead } from './prepare-start';
import { sameRequest, threadClosed } from './same-request';

export interface TextRequest {
  readonly point: TextPoint;
  readonly text: string;
  readonly actor?: JsonValue;
}

export interface JudgeText {
  readonly principal: NexusPrincipal;
  readonly threadId: string;
  readonly request: TextRequest;
  readonly idempotencyKey: string | undefined;
}

/**
 * Takes a text from the request to its first outcome: parked, let through or ended. A repeat under an Idempotency-Key
 * gets the text as it is now. Until it is judged the text is in a blob that nobody is shown but who judges it.
 */
export async function judgeText(gateway: CallGateway, judge: JudgeText): Promise<TextState> {
  const { principal, threadId, request, idempotencyKey } = judge;
  const { store, tenant, key } = principal;
  const ahead = readAhead(store, threadId);
  const { thread, closed } = await visibleThread(principal, threadId);
  const digest = textRequestDigest(request);
  const { point } = request;
  const callId = textIdOf(point, callIdFor({ tenant, owner: key.owner, threadId, idempotencyKey }));

  const known = idempotencyKey === undefined ? undefined : await store.calls.read(callId);
  if (known !== undefined) return textState(sameRequest(known.state, digest));
  if (closed) throw threadClosed();

  const prepared = await prepareText(principal, request, { thread, callId, digest, ahead });
  const state = needsNobody(prepared.start)
    ? await storeLetThrough(principal, prepared)
    : await decide(gateway, principal, prepared.start);
  if (idempotencyKey !== undefined) await discardUnused(principal, prepared.start);
  return textState(state);
}

/** Everything that the workflow of a new text decides on, as it holds now. */
async function prepareText(
  { store, tenant, key }: NexusPrincipal,
  { point, text, actor }: TextRequest,
  at: { thread: ThreadRecord; callId: string; digest: string; ahead: ReadAhead },
): Promise<PreparedStart<TextStart>> {
  const { thread, callId, digest, ahead } = at;
  const { profile, settings } = await resolved(store, thread, ahead);
  const pinned = pinForText(profile, point);
  const start = {
    ...startBase({ tenant, key, settings }, { callId, threadId: thread.id, digest, actor }),
    profile: pinned,
    point,
  };
  const subject = await keepQuarantined(
    store,
    { callId, profile: pinned, point, facts: callFacts(start, thread.metadata) },
    { kind: 'text', value: text },
    `text-${v4()}`,
  );
  return { start: { ...start, subject }, settings };
}

/** No hook has a say about this text, not even one that only looks on. */
function needsNobody({ profile, subject }: TextStart): boolean {
  return !profile.hooks.some((placed) => hookMatches(subject, placed));
}

/** One write is all; there is nothing for a workflow to do. */
async function storeLetThrough(
  { store }: NexusPrincipal,
  { start, settings }: PreparedStart<TextStart>,
): Promise<CallState> {
  const transition = openCall(start, Date.parse(start.createdAt));
  const auditRules = store.calls.readAuditRules(settings);
  const result = await addressed(start, () =>
    store.calls.commit(transition, { start, onlyIfThreadOpen: true, auditRules }),
  );
  if (result.kind === 'thread_closed') {
    await store.blobs.discard(start.callId, start.subject.blob);
    throw threadClosed();
  }
  return result.kind === 'taken' ? sameRequest(result.state, start.requestDigest) : transition.state;
}

/** Another request under the same key may have been first, with a blob of its own. */
async function discardUnused({ store }: NexusPrincipal, { callId, subject }: TextStart): Promise<void> {
  const known = await store.calls.read(callId);
  if (known?.start.subject.kind === 'blob' && known.start.subject.blob !== subject.blob)
    await store.blobs.discard(callId, subject.blob);
}
