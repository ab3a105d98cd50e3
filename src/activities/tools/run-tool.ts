import type { CallStart, ToolCallStart } from '../../domain/call';
import { beginRun, finishRun } from '../../domain/call-execution';
import {
  toolCallState,
  type CallState,
  type ReportedResult,
  type ToolCallState,
} from '../../domain/call-state';
import { subjectDigest } from '../../domain/digest';
import { inputFault } from '../../domain/input-schema';
import type { JsonValue } from '../../domain/json-value';
import type { Transition } from '../../domain/transition';
import type { RunnableTool } from '../../domain/runnable-tool';
import { keepResult } from '../../store/keep-result';
import type { TenantStore } from '../../store/tenant-store';
import type { ToolRequest } from '../../tools/http-tool';
import { faultResult, unknownOutcome, type ToolResult } from '../../tools/tool-result';

/**
 * Runs the tool of a call, and stores what came of it: one activity, so that a worker that dies leaves as little as
 * possible untold.
 *
 *   G1  What runs is the composed value whose digest was judged, under the schema that was pinned; anything else is
 *       refused before it is begun.
 *   G2  Beginning is a stored step (call-execution.ts, X1). Whoever does not store it, does not run.
 *   G3  The idempotency key is the call's id: the same on every attempt, and of no other call.
 */
export interface RunTool {
  readonly store: TenantStore;
  readonly start: ToolCallStart;
  readonly run: (request: ToolRequest<RunnableTool>) => Promise<ToolResult>;
  /** Of this attempt of this activity, and no other. */
  readonly token: string;
  /** The workflow's clock, in milliseconds since the epoch. */
  readonly clock: () => number;
  readonly signal: AbortSignal;
}

export interface RunReply {
  readonly kind: 'applied' | 'taken';
  readonly state: CallState;
}

export async function runTool(running: RunTool): Promise<RunReply> {
  const { start, run, signal, store } = running;
  const tool = start.profile.runs;
  const begun = await begin(running, tool);
  if (begun.kind === 'not_due') return { kind: 'taken', state: begun.state };
  if (begun.kind === 'interrupted') {
    const why = 'The worker that ran it stopped before it could say what came of it.';
    return finish(running, begun.state, unknownOutcome(why));
  }
  if (begun.kind === 'refused') return finish(running, begun.state, begun.result);
  const request = {
    ...{ tenant: start.tenant, tool: begun.tool, input: begun.input },
    ...{ idempotencyKey: start.callId, signal },
    onProgress: progressTeller(store, start.callId),
  };
  return finish(running, begun.state, await run(request).catch(surprise(signal)));
}

/** More often than this nobody needs to know. */
const PROGRESS_EVERY_MS = 10;

/** Whoever waits for the call is told how far its tool has come; that may be lost. */
function progressTeller(store: TenantStore, callId: string) {
  let last = Number.NEGATIVE_INFINITY;
  return (progress: number, total: number | undefined): void => {
    const now = performance.now();
    if (now - last < PROGRESS_EVERY_MS) return;
    last = now;
    const told = { progress, ...(total !== undefined && { total }) };
    store.changes.tellProgress(callId, told).catch(() => undefined);
  };
}

/** A fault of ours is told like one of the tool's: nobody knows how far it came. */
function surprise(signal: AbortSignal) {
  return (error: unknown): ToolResult => {
    if (signal.aborted) throw error;
    return unknownOutcome('Running it failed in a way that was not foreseen.');
  };
}

function refusalOf(start: ToolCallStart, state: ToolCallState, input: JsonValue): ToolResult | undefined {
  const { tool, profile } = start;
  const digest = subjectDigest({ point: 'before_tool_call', tool, value: input });
  if (digest !== state.chain.subject.digest) {
    return notRun('digest_mismatch', 'The stored input is not the one that was judged.');
  }
  const fault = profile.inputSchema === undefined ? undefined : inputFault(profile.inputSchema, input);
  return fault === undefined
    ? undefined
    : notRun('input_invalid', `At "${fault.pointer}" the input ${fault.detail}.`);
}

function notRun(code: string, text: string): ToolResult {
  return faultResult({ code, message: `It was not run. ${text}`, executed: false });
}

type Begun =
  | { readonly kind: 'not_due'; readonly state: CallState }
  | { readonly kind: 'interrupted'; readonly state: ToolCallState }
  | { readonly kind: 'refused'; readonly state: ToolCallState; readonly result: ToolResult }
  | {
      readonly kind: 'begun';
      readonly state: ToolCallState;
      readonly tool: RunnableTool;
      readonly input: JsonValue;
    };

async function begin(
  { store, start, token, clock }: RunTool,
  tool: RunnableTool | undefined,
): Promise<Begun> {
  for (let state = await stored(store, start); ;) {
    const beginning = beginRun(start, state, { token, now: clock(), idempotent: tool?.idempotent ?? false });
    if (beginning.kind === 'not_due' || beginning.kind === 'interrupted')
      return { kind: beginning.kind, state };
    const input = await store.blobs.valueOf(start.callId, state.call.input);
    const refusal = refusalOf(start, state, input);
    if (refusal !== undefined || tool === undefined) {
      const result = refusal ?? notRun('tool_unknown', 'The profile says not how.');
      // What another attempt has begun may have run, whatever is wrong now.
      if (state.run === undefined) return { kind: 'refused', state, result };
      return { kind: 'interrupted', state };
    }
    if (beginning.kind === 'begun') return { kind: 'begun', state, tool, input };
    const reply = await commit(store, beginning.transition);
    state = toolCallState(reply.state);
    if (reply.kind === 'applied') return { kind: 'begun', state, tool, input };
  }
}

async function stored(store: TenantStore, { callId }: CallStart): Promise<ToolCallState> {
  const snapshot = await store.calls.read(callId);
  if (snapshot === undefined) throw new Error(`the store does not know the call ${callId}`);
  return toolCallState(snapshot.state);
}

async function finish(
  { store, start, clock }: RunTool,
  from: ToolCallState,
  result: ToolResult,
): Promise<RunReply> {
  const { result: kind, value, executed } = result;
  const blob = await keepResult(store, { start, call: from.call }, { kind, value });
  const reported: ReportedResult = { result: kind, blob, executed };
  for (let state: CallState = from; ;) {
    const transition = finishRun(start, state, { reported, now: clock() });
    if (transition === undefined) {
      await store.blobs.discard(start.callId, reported.blob.blob);
      return { kind: 'taken', state };
    }
    const reply = await commit(store, transition);
    if (reply.kind === 'applied') return reply;
    state = reply.state;
  }
}

async function commit(store: TenantStore, transition: Transition) {
  const result = await store.calls.commit(transition);
  if (result.kind === 'applied') return { kind: 'applied' as const, state: transition.state };
  if (result.kind === 'taken') return result;
  throw new Error(`a commit without conditions cannot be refused as ${result.kind}`);
}
