import type { ChainState } from './hook-chain';
import { hooksAt, isAgentHook, isUrlHook, type PlacedAskedHook } from './hook';
import type { Point } from './point';
import type { StoredWait } from './stored-wait';
import type { BlobSubject } from './subject';
import {
  isOpen,
  isToolCall,
  type CallRecord,
  type Executed,
  type CallStart,
  type TextRecord,
  type ToolCallRecord,
} from './call';

/**
 * Where a call stands. The workflow holds it; the store keeps it with each step.
 *
 * A tool call:
 *   (start) ──▶ waiting ──▶ waiting …      a hook is asked, or parks; then the next one
 *   waiting | (start) ──▶ allowed | denied | cancelled
 *   allowed ──▶ completed | failed | expired | cancelled
 *   allowed ──▶ waiting … ──▶ completed | failed | denied | cancelled      hooks judge what the tool gave
 *
 * A tool call that the service runs is `running` in the place of `allowed`; it is `allowed` only while a decision that
 * was answered `pending` has not been picked up.
 *
 * A text:
 *   (start) ──▶ waiting … ──▶ completed | denied | cancelled
 */
export interface CallState<Record extends CallRecord = CallRecord> {
  /** Number of the step that led here; 0 before the first. */
  readonly n: number;
  readonly call: Record;
  /** Of the point at which the call stands; of a tool call `after_tool_call` once a result is reported. */
  readonly chain: ChainState;
  /** How many of the point's hooks are behind: asked, or passed over. */
  readonly asked: number;
  /** Whether the next of the point's hooks is one to be asked, by HTTP or of another model. */
  readonly due?: true;
  /** The service is running the tool, or has begun to. */
  readonly run?: ToolRun;
  /** What the tool gave, from its report until its hooks have judged it. */
  readonly reported?: ReportedResult;
  /** The call was answered `pending`. */
  readonly pending?: PendingAnswer;
  readonly waitsOpened: number;
  /** The open wait, or the last one that was. */
  readonly wait?: StoredWait;
}

export type ToolCallState = CallState<ToolCallRecord>;
export type TextState = CallState<TextRecord>;

export function isOfTool(state: CallState): state is ToolCallState {
  return isToolCall(state.call);
}

/** The state of what is known to be a tool call. @throws Error for a text */
export function toolCallState(state: CallState): ToolCallState {
  if (isOfTool(state)) return state;
  throw new Error(`${state.call.id} is a text, and no tool call`);
}

/** The state of what is known to be a text. @throws Error for a tool call */
export function textState(state: CallState): TextState {
  const { call } = state;
  if (isToolCall(call)) throw new Error(`${call.id} is a tool call, and no text`);
  return { ...state, call };
}

/** The wait that holds the call now. */
export function openWaitOf(state: CallState): StoredWait | undefined {
  return state.wait?.wait.outcome === undefined ? state.wait : undefined;
}

/** When the present state ends by itself, in milliseconds since the epoch. */
export function deadlineOf(state: CallState): number | undefined {
  const open = openWaitOf(state);
  if (open !== undefined) return open.wait.expiresAt;
  return state.call.status === 'allowed' && state.call.expiresAt !== undefined
    ? Date.parse(state.call.expiresAt)
    : undefined;
}

export interface ReportedResult {
  readonly result: 'output' | 'error';
  readonly blob: BlobSubject;
  /** Whether the tool has run; absent when the caller says that it did. */
  readonly executed?: Executed;
}

/** An execution by the service. */
export interface ToolRun {
  /** Of the worker's attempt that runs it, or ran it. */
  readonly token: string;
  /** How often it was begun. */
  readonly attempts: number;
}

/** A call whose caller could not wait. Its decision is handed out once, to the next identical request. */
export interface PendingAnswer {
  /** Digest of what makes requests identical. */
  readonly identity: string;
  /** Ids that the model gave the call; a repeat under one of them is the same call. */
  readonly claimants: readonly string[];
  /** Who got the decision. */
  readonly handedTo?: string;
}

export function pointOf({ call, reported }: CallState): Point {
  if (!isToolCall(call)) return call.point;
  return reported === undefined ? 'before_tool_call' : 'after_tool_call';
}

/** The hook that has to be asked, by HTTP or of another model, before the call can go on. */
export function dueHook(start: CallStart, state: CallState): PlacedAskedHook | undefined {
  if (state.due !== true || !isOpen(state.call.status)) return undefined;
  const placed = hooksAt(start.profile.hooks, pointOf(state))[state.asked];
  return placed !== undefined && (isUrlHook(placed) || isAgentHook(placed)) ? placed : undefined;
}

/** Whether nothing happens with the call unless somebody outside acts or its time is over. */
export function isSettled(state: CallState): boolean {
  return state.n > 0 && (state.due !== true || !isOpen(state.call.status));
}

/** Whether the tool may not run yet and may still be allowed to. */
export function isUndecided({ call, reported }: CallState): boolean {
  return call.status === 'waiting' && reported === undefined;
}

/** Whether the service has to run the tool now. */
export function isRunDue(state: CallState): boolean {
  return state.call.status === 'running' && state.reported === undefined;
}

/**
 * Whether a caller that cannot wait may be told `pending`: the tool may not run yet, or the service has run it and what
 * it gave is still judged.
 */
export function isParked(state: CallState): boolean {
  const { call, reported } = state;
  if (isUndecided(state)) return true;
  return (
    call.status === 'waiting' && reported !== undefined && isToolCall(call) && call.execution === 'server'
  );
}

/** Whether more comes of the call by itself or by somebody else's answer, and not by its caller's. */
export function isUnderWay({ call }: CallState): boolean {
  return call.status === 'waiting' || call.status === 'running';
}

/** Names the hook that is due, or that the tool is to be run; `none` when nothing is to be done. */
export function duePlace(state: CallState): string {
  if (isRunDue(state)) return 'run';
  return state.due === true && isOpen(state.call.status) ? `${pointOf(state)}:${state.asked}` : 'none';
}
