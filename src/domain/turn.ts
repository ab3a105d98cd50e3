import { canonicalJson, sha256Hex } from './digest';
import type { Denial, Reason } from './denial';
import type { JsonValue } from './json-value';
import type { Point } from './point';
import type { KnownTool } from './runnable-tool';
import { textIdOf, type RequestedBy, type TextStart } from './call';

/**
 * One exchange of a conversation that is run here: a user's text is judged, a model answers it with the help of tools,
 * each of whose calls is judged, and what the model says in the end is judged.
 *
 *   running ──▶ completed    the model's text was let through
 *   running ──▶ denied       the user's text, or the model's, was not let through
 *   running ──▶ failed       the model could not be asked, or made no end
 *   running ──▶ cancelled    given up
 */
export type TurnStatus = 'running' | 'completed' | 'denied' | 'failed' | 'cancelled';

export interface TurnRecord {
  readonly id: string;
  readonly threadId: string;
  readonly status: TurnStatus;
  readonly denial?: Denial;
  /** Why it failed. */
  readonly failure?: Reason;
  readonly profileId: string;
  readonly profileVersion: number;
  readonly requestDigest: string;
  readonly requestedBy: RequestedBy;
  readonly actor?: JsonValue;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** How a turn ends. */
export type TurnOutcome =
  | { readonly status: 'completed' }
  | { readonly status: 'denied' | 'cancelled'; readonly denial: Denial }
  | { readonly status: 'failed'; readonly failure: Reason };

/** The arguments of the turn's workflow. */
export interface TurnStart {
  readonly tenant: string;
  readonly turnId: string;
  readonly threadId: string;
  readonly owner: string;
  readonly profile: { readonly id: string; readonly version: number };
  /** The user's text. */
  readonly input: TextStart;
  /** The turn judges what stands at this point, for a hook. */
  readonly review?: { readonly point: Point };
  /** Most calls of the model. */
  readonly maxSteps: number;
  /** For one call of the model, in milliseconds. */
  readonly modelTimeoutMs: number;
  /** Where a run goes on that was continued as new: the user's text is let through, and so many steps are done. */
  readonly done?: number;
}

/** The failure type by which a turn's workflow knows a model that could not be asked. */
export const MODEL_FAILED = 'ModelFailed';

/** A call of a tool that a model asked for. */
export interface AskedTool {
  /** The model's id of the call; only data, it may repeat. */
  readonly toolUseId: string;
  readonly tool: string;
  /** As the model is told it again. */
  readonly input: JsonValue;
  /** The call that was made of it; absent when none could be. */
  readonly callId?: string;
  /** The tool as it was when the model asked for it; absent in steps from before the service ran tools. */
  readonly known?: KnownTool;
  /** Why none could be. */
  readonly fault?: string;
}

/** What a model said in one step. Its text is not part of it: that is still to be judged. */
export interface ModelStep {
  readonly at: string;
  readonly tools: readonly AskedTool[];
}

/** Workflow ids are found from tenant and turn alone. */
export function turnWorkflowId(tenant: string, turnId: string): string {
  return `turn:${tenant}:${turnId}`;
}

/** The texts of a turn are calls whose ids are made of the turn's. */
export function inputIdOf(turnId: string): string {
  return textIdOf('before_input', turnId);
}

export function outputIdOf(turnId: string): string {
  return textIdOf('after_output', turnId);
}

/** The id of a tool call of a turn: a UUID of version 8 (RFC 9562 §5.8), the same on every attempt. */
export function toolCallIdOf(turnId: string, step: number, index: number): string {
  return uuidOf(JSON.stringify([turnId, step, index]));
}

/** A UUID of version 8 that is a function of a text. */
export function uuidOf(text: string): string {
  const hex = sha256Hex(text);
  const variant = (0x8 | (Number.parseInt(hex.charAt(16), 16) & 0x3)).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

/** The same request under one Idempotency-Key has the same digest. */
export function turnRequestDigest({ text, actor }: { text: string; actor?: JsonValue }): string {
  return sha256Hex(canonicalJson({ turn: text, ...(actor !== undefined && { actor }) }));
}

/** A turn that has ended stays as it is. */
export function endTurn(record: TurnRecord, outcome: TurnOutcome, at: string): TurnRecord {
  return {
    ...record,
    status: outcome.status,
    ...('denial' in outcome && { denial: outcome.denial }),
    ...('failure' in outcome && { failure: outcome.failure }),
    updatedAt: at,
  };
}
