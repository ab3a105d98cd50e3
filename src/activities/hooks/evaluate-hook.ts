import { callFacts } from '../../domain/call-facts';
import { deliveryIdOf } from '../../domain/delivery-id';
import type { PlacedUrlHook } from '../../domain/hook';
import { readHookResult } from '../../domain/hook-result';
import type { JsonValue } from '../../domain/json-value';
import type { CallStart } from '../../domain/call';
import { applyHookAnswer, type HookAnswer } from '../../domain/call-evaluation';
import { dueHook, pointOf, type CallState } from '../../domain/call-state';
import { timestamp, CallStep } from '../../domain/call-step';
import type { Transition } from '../../domain/transition';
import { callbackToken } from '../../secrets/signature';
import { judgedValue } from '../../store/judged-value';
import type { TenantStore } from '../../store/tenant-store';
import { askHook, type Asking } from './ask-hook';
import { hookInput } from './hook-input';
import { judgedAnswer, judgedResult, type AskedCall } from './judged-answer';
import type { Delivering } from './send-delivery';

/**
 * Asks the due hook of a call and stores what it said: one thing, so that decision and audit cannot differ.
 *
 *   E1  The store is looked at first. A step that is stored already is not made again, and its hook is not asked again.
 *   E2  The hook's answer, its event and the state after it are stored in one step. The first write is the truth.
 *   E3  A state that moved on while the hook was asked keeps the answer if the same hook is still due.
 *   E4  An answer that came to the callback before the promise of it could be stored is taken in its place.
 */
export interface Evaluation {
  readonly store: TenantStore;
  readonly start: CallStart;
  /** Where the call stands: after the last stored step, or after one that is made and is stored with the answer. */
  readonly from: { readonly state: CallState } | { readonly made: Transition };
  /** The workflow's clock when this evaluation began, in milliseconds since the epoch. */
  readonly now: number;
  readonly onlyIfThreadOpen: boolean;
  /** Where late answers go, without the delivery's id; absent when none are taken. */
  readonly callbackBase?: string;
  readonly asking: Pick<Asking, 'attemptsMade' | 'patienceMs' | 'onAttempt' | 'signal'>;
}

export type EvaluationResult =
  | { readonly kind: 'applied' | 'taken'; readonly state: CallState }
  | { readonly kind: 'thread_closed' }
  | { readonly kind: 'undecided'; readonly attempts: number };

export async function evaluateHook(
  delivering: Delivering,
  evaluation: Evaluation,
): Promise<EvaluationResult> {
  const { store, start, from, now } = evaluation;
  const began = performance.now();
  const clock = (): number => Math.round(now + performance.now() - began);
  const state = 'made' in from ? from.made.state : from.state;
  const placed = dueHook(start, state);
  if (placed === undefined) throw new Error('no hook of this call is due');

  const [stored, thread, callbackKey] = await Promise.all([
    store.calls.read(start.callId),
    store.threads.read(start.threadId),
    store.deliveries.callbackKey(),
  ]);
  if (stored !== undefined && !isBehind(stored.state, from)) return { kind: 'taken', state: stored.state };
  const metadata = thread?.thread.metadata ?? {};
  const call = await askedCall(evaluation, state, metadata);

  // A brief try is recorded at once, so what the audit may show can be read while the hook is asked.
  const auditRules = evaluation.asking.patienceMs === undefined ? undefined : store.calls.readAuditRules();
  auditRules?.catch(() => undefined);
  const deliveryId = deliveryIdOf({
    tenant: start.tenant,
    callId: start.callId,
    point: pointOf(state),
    index: placed.index,
  });
  const asked = await askHook(delivering, {
    ...evaluation.asking,
    tenant: start.tenant,
    placed,
    deliveryId,
    input: hookInput(placed, { start, state, judged: call.judged, metadata, deliveryId }),
    ...callbackOf(evaluation, placed, { deliveryId, callbackKey }),
  });
  if (asked.kind === 'undecided') return { kind: 'undecided', attempts: asked.attempts };

  const answer = await judgedAnswer(call, asked);
  const delivery = { deliveryId, attempts: asked.attempts };
  return new Recording(evaluation, call, clock, { delivery, latencyMs: clock() - now }, auditRules).store(
    answer,
  );
}

/** Whether what the store has is what this evaluation goes on from. */
function isBehind(stored: CallState, from: Evaluation['from']): boolean {
  return stored.n <= ('made' in from ? from.made.n - 1 : from.state.n);
}

async function askedCall(
  { store, start }: Evaluation,
  state: CallState,
  metadata: JsonValue,
): Promise<AskedCall> {
  const judged = await judgedValue(store, state);
  return { store, start, facts: callFacts(start, metadata), point: pointOf(state), judged };
}

function callbackOf(
  { callbackBase, now }: Evaluation,
  { hook }: PlacedUrlHook,
  { deliveryId, callbackKey }: { deliveryId: string; callbackKey: string },
): Pick<Asking, 'callback'> {
  if (callbackBase === undefined) return {};
  const token = callbackToken(callbackKey, deliveryId);
  const expiresAt = timestamp(now + hook.processor.asyncTimeoutMs);
  return { callback: { url: `${callbackBase}/v1/deliveries/${deliveryId}`, token, expiresAt } };
}

/** Stores an answer as the next step of its call, on whatever that call has become while the hook was asked. */
class Recording {
  constructor(
    private readonly evaluation: Evaluation,
    private readonly call: AskedCall,
    private readonly clock: () => number,
    private readonly asked: { delivery: { deliveryId: string; attempts: number }; latencyMs: number },
    private readonly auditRules: ReturnType<TenantStore['calls']['readAuditRules']> | undefined,
  ) {}

  async store(answer: HookAnswer): Promise<EvaluationResult> {
    const { start, from } = this.evaluation;
    const due = 'made' in from ? from.made.state : from.state;
    for (let base = from; ;) {
      const reply = await this.commit(base, answer);
      if (reply.kind === 'answered') return this.storeEarly(reply.answer);
      if (reply.kind === 'taken') {
        const next = dueHook(start, reply.state);
        if (next === undefined || pointOf(reply.state) !== pointOf(due) || reply.state.asked !== due.asked) {
          await this.discard(answer);
          return reply;
        }
        base = { state: reply.state };
        continue;
      }
      if (reply.kind === 'thread_closed') await this.discard(answer);
      return reply;
    }
  }

  private async commit(base: Evaluation['from'], answer: HookAnswer) {
    const { start, store, onlyIfThreadOpen } = this.evaluation;
    const { deliveryId } = this.asked.delivery;
    const step =
      'made' in base
        ? CallStep.resume(start, base.made, this.clock())
        : new CallStep(start, base.state, this.clock());
    applyHookAnswer(step, answer, this.asked);
    const transition = step.transition();
    const result = await store.calls.commit(transition, {
      ...(transition.n === 1 && { start, onlyIfThreadOpen }),
      delivery: { deliveryId, unlessAnswered: answer.kind === 'later' },
      ...(this.auditRules !== undefined && { auditRules: this.auditRules }),
    });
    if (result.kind === 'changed') throw new Error('a commit without a generation cannot be refused for one');
    return result.kind === 'applied' ? { kind: 'applied' as const, state: transition.state } : result;
  }

  private async storeEarly(answer: JsonValue): Promise<EvaluationResult> {
    const { from } = this.evaluation;
    const point = pointOf('made' in from ? from.made.state : from.state);
    const reading = readHookResult(answer, point, 'hook');
    // It was read like this before it was kept.
    if (!reading.ok) throw new Error('an early answer is kept that is no HookResult');
    const judged = await judgedResult(this.call, reading.result);
    return this.store(judged.kind === 'result' ? { ...judged, late: true } : judged);
  }

  /** Nobody refers to the rewrite of an answer that did not count. */
  private async discard(answer: HookAnswer): Promise<void> {
    const rewrite = answer.kind === 'result' ? answer.result.rewrite : undefined;
    if (rewrite?.kind !== 'blob') return;
    await this.evaluation.store.blobs.discard(this.evaluation.start.callId, rewrite.blob);
  }
}
