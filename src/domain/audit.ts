import type { DeniedBy, Reason } from './denial';
import { effectiveDecision, type ProcessorAnswer } from './hook-chain';
import type { PlacedHook } from './hook';
import type { CallStatus } from './tool-call';
import type { Point } from './point';
import type { WaitOutcome } from './wait';

/** An event before the store gives it its place (`seq`). Events hold digests, never values. */
export type EventDraft =
  | { readonly type: 'thread_created'; readonly data: { profileId: string } }
  | { readonly type: 'thread_closed'; readonly data: { by: string } }
  | { readonly type: 'tool_call_started'; readonly data: ToolCallStarted }
  | { readonly type: 'hook_decision'; readonly data: HookDecision }
  | { readonly type: 'wait_opened'; readonly data: WaitOpened }
  | { readonly type: 'wait_vote'; readonly data: WaitVote }
  | { readonly type: 'wait_resolved'; readonly data: WaitResolved }
  | { readonly type: 'tool_finished'; readonly data: ToolFinished }
  | { readonly type: 'tool_call_finished'; readonly data: ToolCallFinished }
  | { readonly type: 'profile_changed'; readonly data: ProfileChanged };

export type EventType = EventDraft['type'];

export interface ToolCallStarted {
  readonly callId: string;
  readonly tool: string;
  readonly toolUseId?: string;
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
  readonly latencyMs: number;
  readonly reason?: Reason;
  readonly rewrote?: true;
  readonly resolvedBy?: readonly string[];
  readonly profileVersion: number;
  readonly digestBefore: string;
  readonly digestAfter: string;
}

export interface WaitOpened {
  readonly callId: string;
  readonly waitId: string;
  readonly hookId: string;
  readonly kind: 'client';
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
  readonly decision?: 'allow' | 'deny' | 'defer';
  readonly by: readonly string[];
  readonly subjectDigest: string;
  readonly rewrote?: true;
}

export interface ToolFinished {
  readonly callId: string;
  readonly result: 'output' | 'error';
  readonly digest: string;
  /** The call had ended already: this is evidence, it changed nothing. */
  readonly late?: true;
}

export interface ToolCallFinished {
  readonly callId: string;
  readonly status: CallStatus;
  readonly denial?: { readonly by: DeniedBy; readonly hookId?: string; readonly reason: Reason };
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

/** A stored event. `seq` counts within the thread, from 1, without gaps. */
export interface StoredEvent {
  readonly seq: number;
  readonly id: string;
  readonly type: EventType;
  readonly at: string;
  readonly data: EventDraft['data'];
}

export function hookDecision(
  placed: PlacedHook,
  evaluation: {
    answer: ProcessorAnswer;
    callId: string;
    profileVersion: number;
    latencyMs: number;
    digestBefore: string;
    digestAfter: string;
  },
): EventDraft {
  const { hook, index } = placed;
  const { answer, callId, profileVersion, latencyMs, digestBefore, digestAfter } = evaluation;
  const reason = reasonOf(answer);
  const resolvedBy =
    answer.outcome === 'answered' || answer.outcome === 'cancelled' ? answer.resolvedBy : undefined;
  return {
    type: 'hook_decision',
    data: {
      callId,
      hookId: hook.id,
      index,
      point: hook.point,
      processor: hook.processor.type,
      mode: hook.mode,
      outcome: answer.outcome,
      decision: effectiveDecision(placed, answer),
      latencyMs,
      ...(reason !== undefined && { reason }),
      ...(answer.outcome === 'answered' && answer.rewrite !== undefined && { rewrote: true as const }),
      ...(resolvedBy !== undefined && { resolvedBy }),
      profileVersion,
      digestBefore,
      digestAfter,
    },
  };
}

/** An observed client hook asks nobody: it records that it would have asked. */
export function wouldAsk(
  placed: PlacedHook,
  at: { callId: string; profileVersion: number; digest: string },
): EventDraft {
  const { hook, index } = placed;
  return {
    type: 'hook_decision',
    data: {
      callId: at.callId,
      hookId: hook.id,
      index,
      point: hook.point,
      processor: hook.processor.type,
      mode: 'observe',
      outcome: 'answered',
      decision: 'ask',
      latencyMs: 0,
      profileVersion: at.profileVersion,
      digestBefore: at.digest,
      digestAfter: at.digest,
    },
  };
}

function reasonOf(answer: ProcessorAnswer): Reason | undefined {
  if (answer.outcome !== 'answered') return answer.reason;
  return answer.reason === undefined ? undefined : { code: answer.decision, text: answer.reason };
}
