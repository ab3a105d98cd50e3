import type { DeniedBy, Reason } from './denial';
import { effectiveDecision, type ProcessorAnswer } from './hook-chain';
import type { Judge } from './judge';
import { isQuarantined, type Point, type TextPoint } from './point';
import type { Subject } from './subject';
import type { CallStatus, Executed } from './call';
import type { TurnStatus } from './turn';
import type { WaitOutcome } from './wait';

/**
 * An event before the store gives it its place (`seq`). Its data holds digests. What it `shows` becomes the member
 * `value` as far as the tenant's settings let values into the audit; it is never something that is still to be judged
 * at a quarantined point, nor something that was withheld there.
 */
export type EventDraft = EventFacts & { readonly shows?: Subject };

type EventFacts =
  | { readonly type: 'thread_created'; readonly data: { profileId: string } }
  | { readonly type: 'thread_closed'; readonly data: { by: string } }
  | { readonly type: 'tool_call_started'; readonly data: ToolCallStarted }
  | { readonly type: 'text_started'; readonly data: TextStarted }
  | { readonly type: 'hook_decision'; readonly data: HookDecision }
  | { readonly type: 'wait_opened'; readonly data: WaitOpened }
  | { readonly type: 'wait_vote'; readonly data: WaitVote }
  | { readonly type: 'wait_resolved'; readonly data: WaitResolved }
  | { readonly type: 'tool_started'; readonly data: ToolStarted }
  | { readonly type: 'tool_finished'; readonly data: ToolFinished }
  | { readonly type: 'tool_call_finished' | 'text_finished'; readonly data: CallFinished }
  | { readonly type: 'turn_started'; readonly data: TurnStarted }
  | { readonly type: 'turn_finished'; readonly data: TurnFinished }
  | { readonly type: 'profile_changed'; readonly data: ProfileChanged }
  | { readonly type: 'lifecycle_event'; readonly data: LifecycleEvent };

export type EventType = EventDraft['type'];

export interface ToolCallStarted {
  readonly callId: string;
  readonly turnId?: string;
  readonly tool: string;
  readonly toolUseId?: string;
  readonly profileId: string;
  readonly profileVersion: number;
  readonly requestedBy: string;
  readonly subjectDigest: string;
}

export interface TextStarted {
  readonly callId: string;
  readonly turnId?: string;
  readonly point: TextPoint;
  readonly profileId: string;
  readonly profileVersion: number;
  readonly requestedBy: string;
  readonly subjectDigest: string;
}

/** One per evaluated hook, and none for a hook that was not asked. */
export interface HookDecision {
  readonly callId: string;
  readonly hookId: string;
  readonly index: number;
  readonly point: Point;
  readonly processor: string;
  readonly mode: 'enforce' | 'observe';
  readonly outcome: ProcessorAnswer['outcome'];
  readonly decision: 'allow' | 'deny' | 'defer' | 'ask';
  /** From the question to the answer, by the clocks of the service. */
  readonly latencyMs: number;
  readonly reason?: Reason;
  readonly rewrote?: true;
  readonly resolvedBy?: readonly string[];
  /** Of a hook that was asked by HTTP. */
  readonly deliveryId?: string;
  /** The turn in which another model judged. */
  readonly reviewTurnId?: string;
  /** How often it was asked. */
  readonly attempts?: number;
  readonly profileVersion: number;
  readonly digestBefore: string;
  readonly digestAfter: string;
}

export interface WaitOpened {
  readonly callId: string;
  readonly waitId: string;
  readonly hookId: string;
  readonly kind: 'client' | 'delivery' | 'ask';
  readonly needed: number;
  readonly subjectDigest: string;
  readonly expiresAt: string;
}

export interface WaitVote {
  readonly callId: string;
  readonly waitId: string;
  readonly hookId: string;
  readonly by: string;
  readonly counted: number;
  readonly needed: number;
  readonly subjectDigest: string;
  readonly rewrote?: true;
}

export interface WaitResolved {
  readonly callId: string;
  readonly waitId: string;
  readonly hookId: string;
  readonly outcome: WaitOutcome['kind'];
  readonly decision?: 'allow' | 'deny' | 'defer' | 'ask';
  readonly by: readonly string[];
  readonly subjectDigest: string;
  readonly rewrote?: true;
}

/** The service is about to run the tool. */
export interface ToolStarted {
  readonly callId: string;
  /** From 1; more than one only for a tool that is declared idempotent. */
  readonly attempt: number;
  /** Of what it runs with. */
  readonly subjectDigest: string;
}

export interface ToolFinished {
  readonly callId: string;
  readonly result: 'output' | 'error';
  readonly digest: string;
  /** Whether the tool has run; absent when the caller says that it did. */
  readonly executed?: Executed;
  /** The call had ended already: this is evidence, it changed nothing. */
  readonly late?: true;
}

export interface CallFinished {
  readonly callId: string;
  readonly status: CallStatus;
  readonly denial?: { readonly by: DeniedBy; readonly hookId?: string; readonly reason: Reason };
}

export interface TurnStarted {
  readonly turnId: string;
  readonly profileId: string;
  readonly profileVersion: number;
  readonly model: string;
  readonly requestedBy: string;
  readonly subjectDigest: string;
}

export interface TurnFinished {
  readonly turnId: string;
  readonly status: TurnStatus;
  readonly denial?: { readonly by: DeniedBy; readonly hookId?: string; readonly reason: Reason };
  readonly failure?: Reason;
}

export interface ProfileChanged {
  readonly profileId: string;
  readonly version: number;
  readonly change: 'created' | 'updated' | 'deleted' | 'hook_removed' | 'defaults_upgraded';
  readonly by: string;
  /** Ids of hooks that an upgrade added. */
  readonly added?: readonly string[];
  /** Ids of hooks that were taken out one by one. */
  readonly removed?: readonly string[];
}

/** What Coder asked about, and what it was answered. */
export interface LifecycleEvent {
  readonly dispatchId: string;
  readonly event: string;
  readonly chatId: string;
  /** Absent in an event that was refused: of such a body nothing is believed. */
  readonly ownerId?: string;
  readonly workspaceId?: string;
  readonly role?: string;
  readonly ticket?: string;
  readonly threadId?: string;
  readonly callId?: string;
  readonly tool?: string;
  /** `refused`: its token was the tenant's, and the rest was not as it should be. */
  readonly decision: 'none' | 'allow' | 'deny' | 'pending' | 'refused';
  readonly rewrote?: true;
  readonly reason?: Reason;
  readonly latencyMs: number;
  /** SHA-256 of the body as it was sent. Absent in an event that was refused. */
  readonly digest?: string;
}

/** A stored event. `seq` counts within the thread, from 1, without gaps. */
export interface StoredEvent {
  readonly seq: number;
  readonly id: string;
  readonly type: EventType;
  readonly at: string;
  readonly data: EventDraft['data'];
}

/** What every decision is recorded with. */
export interface DecisionFacts {
  readonly callId: string;
  readonly profileVersion: number;
  readonly latencyMs: number;
  readonly delivery?: { readonly deliveryId: string; readonly attempts: number };
  readonly review?: { readonly reviewTurnId: string };
}

export function hookDecision(
  judge: Judge,
  evaluation: DecisionFacts & { answer: ProcessorAnswer; before: Subject; after: Subject },
): EventDraft {
  const { answer, before, after, ...facts } = evaluation;
  const reason = reasonOf(answer);
  const resolvedBy =
    answer.outcome === 'answered' || answer.outcome === 'cancelled' ? answer.resolvedBy : undefined;
  const rewrote = answer.outcome === 'answered' && answer.rewrite !== undefined;
  return {
    type: 'hook_decision',
    data: {
      ...judgement(judge, facts),
      outcome: answer.outcome,
      decision: effectiveDecision(judge, answer),
      ...(reason !== undefined && { reason }),
      ...(rewrote && { rewrote: true as const }),
      ...(resolvedBy !== undefined && { resolvedBy }),
      digestBefore: before.digest,
      digestAfter: after.digest,
    },
    ...shown(judge, rewrote ? after : undefined),
  };
}

/** A hook that asks for a person, or one in mode observe that would have. */
export function askDecision(
  judge: Judge,
  asked: DecisionFacts & { reason?: string; before: Subject; after: Subject },
): EventDraft {
  const { reason, before, after, ...facts } = asked;
  const rewrote = after.digest !== before.digest;
  return {
    type: 'hook_decision',
    data: {
      ...judgement(judge, facts),
      outcome: 'answered',
      decision: 'ask',
      ...(reason !== undefined && { reason: { code: 'ask', text: reason } }),
      ...(rewrote && { rewrote: true as const }),
      digestBefore: before.digest,
      digestAfter: after.digest,
    },
    ...shown(judge, rewrote ? after : undefined),
  };
}

function judgement(judge: Judge, { callId, profileVersion, latencyMs, delivery, review }: DecisionFacts) {
  return {
    callId,
    hookId: judge.id,
    index: judge.index,
    point: judge.point,
    processor: judge.processor,
    mode: judge.mode,
    latencyMs,
    ...delivery,
    ...review,
    profileVersion,
  };
}

/** A rewrite at a quarantined point is still to be judged by the hooks after it. */
function shown(judge: Judge, rewrite: Subject | undefined): { shows?: Subject } {
  return rewrite === undefined || judge.mode === 'observe' || isQuarantined(judge.point)
    ? {}
    : { shows: rewrite };
}

function reasonOf(answer: ProcessorAnswer): Reason | undefined {
  if (answer.outcome !== 'answered') return answer.reason;
  return answer.reason === undefined ? undefined : { code: answer.decision, text: answer.reason };
}
