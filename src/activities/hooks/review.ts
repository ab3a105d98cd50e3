import { callFacts } from '../../domain/call-facts';
import type { HookAnswer } from '../../domain/call-evaluation';
import { dueHook, pointOf } from '../../domain/call-state';
import { deliveryIdOf } from '../../domain/delivery-id';
import { isAgentHook, type PlacedAgentHook } from '../../domain/hook';
import { SERVICE_OWNER } from '../../domain/principal';
import { outputIdOf, turnRequestDigest, uuidOf, type TurnRecord, type TurnStart } from '../../domain/turn';
import type { CallSnapshot } from '../../store/calls';
import { judgedValue } from '../../store/judged-value';
import { newTurn } from '../../store/new-turn';
import type { TenantStore } from '../../store/tenant-store';
import type { ThreadRecord } from '../../store/threads';
import { hookInput } from './hook-input';
import { judgedResult, type AskedCall } from './judged-answer';
import { readAnswer } from './read-reply';
import { Recording, type EvaluationResult } from './recording';

/** A review that failed before it began, or that came to no answer. */
export type ReviewFailure = Extract<HookAnswer, { kind: 'failed' }>;

export type PreparedReview =
  { readonly kind: 'turn'; readonly start: TurnStart } | ReviewFailure | { readonly kind: 'nothing_due' };

/**
 * Makes the turn in which the due agent hook of a call judges: on the reviewing profile as it is now, in a thread of its
 * own that belongs to the service, with the HookInput as the user's text. Its ids are made of the evaluation's, so that
 * one evaluation has one review.
 */
export async function prepareReview(store: TenantStore, callId: string): Promise<PreparedReview> {
  const due = await dueReview(store, callId);
  if (due === undefined) return { kind: 'nothing_due' };
  const { snapshot, placed } = due;
  const { start, state } = snapshot;
  if (start.insideReview === true)
    return failed('nested_agent', 'nested_agent', 'An agent hook does not run inside the review of another.');
  const { profileId } = placed.hook.processor;
  const profile = await store.profiles.read(profileId);
  const model = profile?.configuration.model;
  if (profile === undefined || model === undefined)
    return failed('unreachable', 'no_reviewer', 'The reviewing profile is not there, or has no model.');

  const deliveryId = evaluationId(snapshot, placed);
  const turnId = uuidOf(deliveryId);
  const known = await store.turns.read(turnId);
  if (known !== undefined) return { kind: 'turn', start: known.start };
  const metadata = (await store.threads.read(start.threadId))?.thread.metadata ?? {};
  const judged = await judgedValue(store, state);
  const createdAt = new Date().toISOString();
  const input = hookInput(placed, { start, state, judged, metadata, deliveryId });
  const text = JSON.stringify({ ...input, attempt: 1, sentAt: createdAt });
  const thread: ThreadRecord = {
    id: uuidOf(`thread of ${deliveryId}`),
    profileId,
    owner: SERVICE_OWNER,
    metadata: { reviews: { threadId: start.threadId, callId, hookId: placed.hook.id } },
    createdAt,
  };
  if ((await store.threads.read(thread.id)) === undefined) await store.threads.create(thread);
  const { tenant, requestedBy, operatorSignal, defaultApprovers } = start;
  const made = await newTurn(store, {
    ...{ turnId, thread, profile, model, text, digest: turnRequestDigest({ text }) },
    // Whoever asked for the call asked for its review: nobody answers for their own.
    by: {
      ...{ tenant, requestedBy, operatorSignal, createdAt },
      ...(defaultApprovers !== undefined && { defaultApprovers }),
    },
    review: { point: pointOf(state) },
  });
  await store.turns.create(made);
  await store.turns.confirmStarted(turnId);
  return { kind: 'turn', start: made.start };
}

/** Reads what the review came to, and records it as the hook's answer: one thing, as for every hook. */
export async function recordReview(
  store: TenantStore,
  callId: string,
  review: { turnId?: string; failure?: ReviewFailure; latencyMs: number; now: number },
): Promise<Extract<EvaluationResult, { kind: 'applied' | 'taken' }> | { readonly kind: 'nothing_due' }> {
  const due = await dueReview(store, callId);
  if (due === undefined) return { kind: 'nothing_due' };
  const { start, state } = due.snapshot;
  const { turnId, failure, latencyMs, now } = review;
  const metadata = (await store.threads.read(start.threadId))?.thread.metadata ?? {};
  const call: AskedCall = {
    ...{ store, start, facts: callFacts(start, metadata), point: pointOf(state) },
    judged: await judgedValue(store, state),
  };
  const answer = failure ?? (await verdictOf(call, turnId));
  const asked = { latencyMs, ...(turnId !== undefined && { review: { reviewTurnId: turnId } }) };
  const recorded = { store, start, from: { state }, onlyIfThreadOpen: false };
  const result = await new Recording(recorded, call, () => now, asked, undefined).store(answer);
  if (result.kind === 'applied' || result.kind === 'taken') return result;
  throw new Error(`a review cannot be recorded as ${result.kind}`);
}

async function verdictOf(call: AskedCall, turnId: string | undefined): Promise<HookAnswer> {
  const { store } = call;
  const record = turnId === undefined ? undefined : (await store.turns.read(turnId))?.record;
  if (record?.status !== 'completed') return noVerdict(record);
  const output = (await store.calls.read(outputIdOf(record.id)))?.state.call;
  if (output === undefined || 'tool' in output || output.text === undefined) return noVerdict(undefined);
  const text = await store.blobs.valueOf(output.id, output.text);
  const read = readAnswer(Buffer.from(typeof text === 'string' ? text : ''), call.point);
  if (read.kind === 'failed') {
    const { outcome, code, text: why } = read;
    return { kind: 'failed', outcome, reason: { code, text: why } };
  }
  return judgedResult(call, read.result);
}

function noVerdict(record: TurnRecord | undefined): ReviewFailure {
  switch (record?.status) {
    case 'denied':
      return failed(
        'invalid',
        'review_denied',
        "A hook of the reviewing profile withheld the review's text.",
      );
    case 'failed':
      return failed('unreachable', 'review_failed', record.failure?.text ?? 'The review failed.');
    case 'cancelled':
      return failed('unreachable', 'review_cancelled', 'The review was given up.');
    case 'running':
    case 'completed':
    case undefined:
      return failed('unreachable', 'review_lost', 'The review came to no end.');
  }
}

function failed(outcome: ReviewFailure['outcome'], code: string, text: string): ReviewFailure {
  return { kind: 'failed', outcome, reason: { code, text } };
}

async function dueReview(
  store: TenantStore,
  callId: string,
): Promise<{ snapshot: CallSnapshot; placed: PlacedAgentHook } | undefined> {
  const snapshot = await store.calls.read(callId);
  const placed = snapshot && dueHook(snapshot.start, snapshot.state);
  if (snapshot === undefined || placed === undefined || !isAgentHook(placed)) return undefined;
  return { snapshot, placed };
}

function evaluationId({ start, state }: CallSnapshot, { index }: PlacedAgentHook): string {
  const { tenant, callId } = start;
  return deliveryIdOf({ tenant, callId, point: pointOf(state), index });
}
