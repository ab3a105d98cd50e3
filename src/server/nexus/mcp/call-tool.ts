import { v4 } from 'uuid';
import { ErrorCode, McpError, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { isParked, openWaitOf, type CallState } from '../../../domain/call-state';
import { inputFault } from '../../../domain/input-schema';
import { findUnfaithful, jsonBytes, MAX_JSON_BYTES, type JsonValue } from '../../../domain/json-value';
import type { Profile } from '../../../domain/profile';
import { HttpProblem } from '../../http/problem';
import type { ToolProgress } from '../../../store/change-feed';
import type { TenantStore } from '../../../store/tenant-store';
import { callIdFor } from '../calls/call-id';
import { giveUpCall } from '../calls/give-up';
import type { MakeCall } from '../calls/call-request';
import { undecidedCallOf } from '../calls/not-decided';
import {
  awaitInTime,
  indexPendingLater,
  makeCallInTime,
  type MadeInTime,
  type Patience,
  type TimedCallMaking,
} from '../calls/pending-call';
import type { NexusPrincipal } from '../nexus-principal';
import { answering } from '../outage';
import { callView, pendingView } from '../views/call';
import { refusal, toolAnswer } from './tool-answer';

export interface ToolCalling {
  readonly making: TimedCallMaking;
  readonly principal: NexusPrincipal;
  readonly profile: Profile;
  /** The thread of the session, made when it is needed. */
  readonly threadId: () => Promise<string>;
}

export interface WantedToolCall {
  readonly name: string;
  readonly input: unknown;
  /** Names the call, so that its repeat runs nothing; absent: a call of its own. */
  readonly idempotencyKey?: string;
  /** How long the client can wait for a decision. A tool that runs is waited for in any case. */
  readonly waitSeconds: number;
  /** Told now and then while the client waits. */
  readonly onProgress: (message: string) => void;
  /** Told how far the tool itself says that it has come. */
  readonly onToolProgress: (progress: ToolProgress) => void;
  /** Aborted when the client wants no answer any more. */
  readonly signal: AbortSignal;
  /** Whether it was the client who said so, and not a connection or a server that ended. */
  readonly isCancelled: () => boolean;
}

/**
 * Has a tool of the profile judged and run for an MCP client. Whatever becomes of it is a result; only a request that is
 * none is an error of the protocol.
 */
export async function callTool(calling: ToolCalling, wanted: WantedToolCall): Promise<CallToolResult> {
  const { making, principal, profile } = calling;
  const input = readInput(wanted.input);
  const found = await making.toolbox.find(principal.tenant, profile.configuration, wanted.name);
  const { tool } = found;
  if (tool?.runs === undefined) {
    if (found.unreachable.length > 0)
      return refusal('The tool has not run: its server cannot be reached now.');
    throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${wanted.name.toWellFormed().slice(0, 256)}`);
  }
  const fault = tool.inputSchema === undefined ? undefined : inputFault(tool.inputSchema, input);
  if (fault !== undefined) {
    return refusal(`The tool has not run: at "${fault.pointer}" the input ${fault.detail}.`);
  }
  const threadId = await answering(calling.threadId);
  const make = {
    principal,
    threadId,
    idempotencyKey: wanted.idempotencyKey ?? v4(),
    request: { tool: wanted.name, input, execution: 'server' as const },
  };
  const { store, tenant, key } = principal;
  const { idempotencyKey } = make;
  const progress = new ProgressWatch(store, wanted.onToolProgress);
  // It may begin before its first state is known here.
  progress.watch(callIdFor({ tenant, owner: key.owner, threadId, idempotencyKey }));
  const patience: Patience = {
    seconds: wanted.waitSeconds,
    signal: wanted.signal,
    whileRunning: true,
    onState: (state) => {
      progress.watch(state.call.id);
      wanted.onProgress(progressOf(state));
    },
  };
  try {
    const made = await answering(() => makeCallInTime(making, make, { patience }));
    if (wanted.isCancelled()) await giveUp(calling, made);
    return await answer(principal, made, tool.runs.kind);
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
    return await problemResult(calling, error, { make, patience });
  } finally {
    progress.stop();
  }
}

/** Watches the call that is waited for, which is another one when an earlier request was the same. */
class ProgressWatch {
  private readonly watched = new Map<string, () => void>();

  constructor(
    private readonly store: TenantStore,
    private readonly tell: (progress: ToolProgress) => void,
  ) {}

  watch(callId: string): void {
    if (!this.watched.has(callId))
      this.watched.set(callId, this.store.changes.watchProgress(callId, this.tell));
  }

  stop(): void {
    for (const stop of this.watched.values()) stop();
  }
}

function readInput(input: unknown = {}): JsonValue {
  const unfaithful = findUnfaithful(input);
  if (unfaithful !== undefined) {
    throw new McpError(ErrorCode.InvalidParams, `arguments${unfaithful.pointer}: ${unfaithful.problem}`);
  }
  if (jsonBytes(input) > MAX_JSON_BYTES) {
    throw new McpError(ErrorCode.InvalidParams, `arguments are larger than ${MAX_JSON_BYTES} bytes of JSON`);
  }
  // Checked above: what findUnfaithful accepts is JSON.
  return input as JsonValue;
}

async function answer(
  principal: NexusPrincipal,
  { kind, state }: MadeInTime,
  toolKind: 'http' | 'mcp',
): Promise<CallToolResult> {
  const view = await callView(principal, state);
  return toolAnswer(kind === 'pending' ? pendingView(view) : view, toolKind);
}

/** A call that has ended meanwhile stays as it is. */
async function giveUp({ making, principal }: ToolCalling, { state }: MadeInTime): Promise<void> {
  const { id: callId, threadId } = state.call;
  await giveUpCall(making.gateway, { principal, threadId, callId }).catch((error: unknown) => {
    if (!(error instanceof HttpProblem)) throw error;
  });
}

/**
 * The service could not tell in time what becomes of the call, which may go on all the same: it is looked for as long as
 * the client waits, and is found by the same call afterwards.
 */
async function problemResult(
  { making, principal }: ToolCalling,
  problem: HttpProblem,
  { make, patience }: { make: MakeCall; patience: Patience },
): Promise<CallToolResult> {
  const callId = undecidedCallOf(problem);
  if (callId === undefined) return refusal(`This request ran nothing: ${problem.message}.`);
  const { store } = principal;
  const until = Date.now() + patience.seconds * 1_000;
  const left = (): number => Math.max(0, (until - Date.now()) / 1_000);
  do {
    const known = await store.calls.readToolCall(callId).catch(() => undefined);
    if (known !== undefined) {
      const state = await awaitInTime(store, known.state, { left, patience });
      const kind = isParked(state) ? 'pending' : 'decided';
      if (kind === 'pending') indexPendingLater(making, make, { callId });
      return answer(principal, { kind, state }, known.start.profile.runs?.kind ?? 'mcp');
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  } while (left() > 0 && !patience.signal.aborted);
  indexPendingLater(making, make, { callId });
  return refusal(
    `It is not known yet what becomes of this call of ${make.request.tool}: ${problem.message}. It may still run; its id is ${callId}.`,
  );
}

const LOOK_AGAIN_MS = 500;

function progressOf(state: CallState): string {
  const open = openWaitOf(state);
  if (open !== undefined) return `Waiting for an answer: ${open.wait.title}`;
  return state.call.status === 'running' ? 'The tool is running' : 'Being decided';
}
