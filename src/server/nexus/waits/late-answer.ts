import { v4 } from 'uuid';
import { parseDeliveryId, deliveryIdOf, type DeliveryPlace } from '../../../domain/delivery-id';
import { canonicalJson, sha256Hex } from '../../../domain/digest';
import { isUrlHook, type PlacedUrlHook } from '../../../domain/hook';
import { readHookResult, type HookResult } from '../../../domain/hook-result';
import type { JsonValue } from '../../../domain/json-value';
import { hookPrincipal } from '../../../domain/principal';
import type { ResolveResult, StoredWait } from '../../../domain/stored-wait';
import type { AnswerInput } from '../../../domain/call-answer';
import { dueHook, pointOf } from '../../../domain/call-state';
import { isCallbackToken, verifyDelivery } from '../../../secrets/signature';
import type { Secrets } from '../../../secrets/secrets';
import type { CallSnapshot } from '../../../store/calls';
import type { TenantStore } from '../../../store/tenant-store';
import type { TenantStores } from '../../../store/tenant-stores';
import { parseJson } from '../../http/json-body';
import { HttpProblem } from '../../http/problem';
import type { AnswerSender } from './answer-sender';
import { keptEdit } from './kept-edit';
import { answerFaults, refusalProblem } from './refusal-problem';

/** A late answer as it came. */
export interface LateAnswer {
  readonly deliveryId: string;
  readonly body: Buffer;
  readonly token: string | undefined;
  readonly signed: {
    readonly id: string | undefined;
    readonly timestamp: string | undefined;
    readonly signature: string | undefined;
  };
  readonly idempotencyKey: string | undefined;
}

/** `kept`: the promise of it is not stored yet; the answer is taken up with it. */
export type LateAnswerResult =
  | { readonly kind: 'kept' }
  | { readonly kind: 'resolved'; readonly waitId: string; readonly result: ResolveResult };

/**
 * Takes late answers of hooks to the calls that wait for them. An answer may come before the hook's promise of it (202)
 * has been read: then it is kept, and the step that would wait finds it. One that comes when nothing waits for it is
 * refused, and says so.
 *
 * The sender proves itself by the callback token of the delivery, or by a signature with the hook's own secret; never by
 * the tenant's secret, which other hooks share. Whoever does not is told nothing: unknown and foreign are the same.
 */
export class LateAnswers {
  constructor(
    private readonly sender: AnswerSender,
    private readonly stores: TenantStores,
    private readonly secrets: Secrets,
  ) {}

  /** @throws HttpProblem for an answer that does not count */
  async take(answer: LateAnswer): Promise<LateAnswerResult> {
    const place = parseDeliveryId(answer.deliveryId);
    const store = place && this.stores.find(place.tenant);
    if (place === undefined || store === undefined || deliveryIdOf(place) !== answer.deliveryId)
      throw unknownDelivery();
    for (;;) {
      const snapshot = await store.calls.read(place.callId);
      await this.demandProof(answer, place, store, snapshot);
      const result = readAnswer(answer, place);
      // Open, or closed: then the store says what became of it.
      const wait = snapshot?.state.wait;
      if (wait?.wait.delivery?.deliveryId === answer.deliveryId) {
        const resolved = await this.resolve(store, wait, answer, result);
        return { kind: 'resolved', waitId: wait.wait.id, result: resolved };
      }
      if (snapshot !== undefined && !isDue(snapshot, place)) {
        throw new HttpProblem('delivery-closed', {
          detail: 'the call has gone on; it takes no answer to this delivery',
        });
      }
      const kept = await store.deliveries.keepEarly(place.callId, {
        n: snapshot?.state.n ?? 0,
        deliveryId: answer.deliveryId,
        answer: resultBody(result, place),
      });
      if (kept === 'kept') return { kind: 'kept' };
      if (kept === 'answered')
        throw new HttpProblem('delivery-closed', { detail: 'this delivery has its answer' });
    }
  }

  private async demandProof(
    { deliveryId, body, token, signed }: LateAnswer,
    place: DeliveryPlace,
    store: TenantStore,
    snapshot: CallSnapshot | undefined,
  ): Promise<void> {
    if (token !== undefined && isCallbackToken(await store.deliveries.callbackKey(), deliveryId, token))
      return;
    const placed = snapshot && hookAt(snapshot, place);
    const name = placed?.hook.processor.secret;
    if (placed === undefined || name === undefined || signed.signature === undefined) throw unknownDelivery();
    const host = new URL(placed.hook.processor.url).hostname;
    const reading = await this.secrets.values(place.tenant, name, host);
    const secrets = reading.ok ? reading.values : [];
    if (signed.id !== deliveryId || !verifyDelivery({ headers: signed, body, secrets, now: new Date() })) {
      throw unknownDelivery();
    }
  }

  private async resolve(
    store: TenantStore,
    stored: StoredWait,
    { idempotencyKey }: LateAnswer,
    { decision, reason, rewrite }: HookResult,
  ): Promise<ResolveResult> {
    const { wait, callId } = stored;
    const edit = rewrite && (await keptEdit(store, callId, rewrite.value));
    const said = { decision, ...(reason !== undefined && { reason }), subjectDigest: wait.subject.digest };
    const input: AnswerInput = {
      waitId: wait.id,
      answerId: idempotencyKey === undefined ? v4() : sha256Hex(`${wait.hookId}\n${idempotencyKey}`),
      answerDigest: sha256Hex(canonicalJson({ ...said, rewrite: edit?.digest ?? null })),
      principal: hookPrincipal(wait.hookId),
      answer: { ...said, ...(edit !== undefined && { rewrite: edit }) },
    };
    const current = async (): Promise<StoredWait> => (await store.waits.read(wait.id)) ?? stored;
    const reply = await this.sender.send(store, { found: stored, current }, input);
    if (reply.ok) return reply.result;
    if (edit?.kind === 'blob') await store.blobs.discard(callId, edit.blob);
    throw refusalProblem(wait.id, reply.refusal);
  }
}

function readAnswer({ body }: LateAnswer, { point }: DeliveryPlace): HookResult {
  const reading = readHookResult(parseJson(body), point, 'hook');
  if (!reading.ok) throw answerFaults(reading.faults);
  return reading.result;
}

/** The HookResult again, as it was sent. */
function resultBody({ decision, reason, rewrite }: HookResult, { point }: DeliveryPlace): JsonValue {
  const member = point === 'before_tool_call' ? 'updatedInput' : 'updatedOutput';
  return {
    decision,
    ...(reason !== undefined && { reason }),
    ...(rewrite !== undefined && { [member]: rewrite.value }),
  };
}

function hookAt({ start }: CallSnapshot, { point, index }: DeliveryPlace): PlacedUrlHook | undefined {
  const placed = start.profile.hooks.find((each) => each.index === index && each.hook.point === point);
  return placed !== undefined && isUrlHook(placed) ? placed : undefined;
}

/** Whether the hook is being asked now. */
function isDue({ start, state }: CallSnapshot, { point, index }: DeliveryPlace): boolean {
  return pointOf(state) === point && dueHook(start, state)?.index === index;
}

function unknownDelivery(): HttpProblem {
  return new HttpProblem('not-found', { detail: 'no such delivery, or no proof that it was sent to you' });
}
