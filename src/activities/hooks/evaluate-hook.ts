import { callFacts } from '../../domain/call-facts';
import { deliveryIdOf } from '../../domain/delivery-id';
import { isUrlHook, type PlacedUrlHook } from '../../domain/hook';
import type { JsonValue } from '../../domain/json-value';
import type { CallStart } from '../../domain/call';
import { dueHook, pointOf, type CallState } from '../../domain/call-state';
import { timestamp } from '../../domain/call-step';
import type { Transition } from '../../domain/transition';
import { callbackToken } from '../../secrets/signature';
import { judgedValue } from '../../store/judged-value';
import type { TenantStore } from '../../store/tenant-store';
import { askHook, type Asking } from './ask-hook';
import { hookInput } from './hook-input';
import { judgedAnswer, type AskedCall } from './judged-answer';
import { Recording, type EvaluationResult } from './recording';
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

export async function evaluateHook(
  delivering: Delivering,
  evaluation: Evaluation,
): Promise<EvaluationResult> {
  const { store, start, from, now } = evaluation;
  const began = performance.now();
  const clock = (): number => Math.round(now + performance.now() - began);
  const state = 'made' in from ? from.made.state : from.state;
  const placed = dueHook(start, state);
  if (placed === undefined || !isUrlHook(placed)) throw new Error('no hook of this call is due');

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
  const asking = { delivery, latencyMs: clock() - now };
  return new Recording(evaluation, call, clock, asking, auditRules).store(answer);
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
