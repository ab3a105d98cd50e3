import { v4 } from 'uuid';
import { canonicalJson, sha256Hex, subjectDigest } from '../../../domain/digest';
import { isOpen, type CallStatus } from '../../../domain/call';
import type { PendingInput } from '../../../domain/call-pending';
import { isParked, type ToolCallState } from '../../../domain/call-state';
import { HttpProblem } from '../../http/problem';
import type { Reached } from '../../temporal';
import type { TenantStore } from '../../../store/tenant-store';
import type { NexusPrincipal } from '../nexus-principal';
import { visibleThread } from '../profile-access';
import { awaitDecision } from './await-decision';
import type { MakeCall } from './call-request';
import { makeCall, type CallMaking } from './make-call';
import { notDecidedProblem } from './not-decided';
import type { PendingClaims } from './pending-claims';

export interface TimedCallMaking extends CallMaking {
  readonly claims: PendingClaims;
}

/** A call that is decided, or that its caller is told is `pending` while it goes on. */
export type MadeInTime =
  | { readonly kind: 'decided'; readonly state: ToolCallState }
  | { readonly kind: 'pending'; readonly state: ToolCallState };

/** What is decided at once is answered as decided, however little its caller can wait. */
const FIRST_OUTCOME_MS = 2_000;

/** How long the caller can wait. */
export interface Patience {
  readonly seconds: number;
  readonly signal: AbortSignal;
  /** Whether a tool that runs is waited for beyond that: there is nothing to be told before it has ended. */
  readonly whileRunning?: boolean;
  /** Longest time to wait for the first outcome, in milliseconds. Default: a little, however short the patience is. */
  readonly firstOutcomeMs?: number;
  /** Told of each state in which the call is waited for. */
  readonly onState?: (state: ToolCallState) => void;
}

/**
 * Makes a call for a caller that must have an answer in time (domain/call-pending). The same request before, if it
 * was answered `pending`, is the same call: it is bound to that one, and makes a new one only when the decision is
 * somebody else's by now.
 *
 * @param workspace what else has to be equal for two requests to be the same, where callers of one key are many
 */
export async function makeCallInTime(
  { claims, ...making }: TimedCallMaking,
  make: MakeCall,
  { patience, workspace }: { patience: Patience; workspace?: string },
): Promise<MadeInTime> {
  const { principal, threadId, request } = make;
  const { store } = principal;
  // Before anything is looked up: a foreign thread has no calls to be found.
  await visibleThread(principal, threadId);
  const input = pendingInput(make, workspace);
  const until = Date.now() + patience.seconds * 1_000;
  const left = (): number => Math.max(0, (until - Date.now()) / 1_000);
  const wait = (state: ToolCallState): Promise<ToolCallState> =>
    awaitInTime(store, state, { left, patience });
  const by = { input, claims, wait };

  for (const callId of await store.pendingCalls.find(input.identity)) {
    const bound = await bind(principal, callId, by);
    if (bound !== undefined) return bound;
  }
  const withinMs = patience.firstOutcomeMs ?? Math.max(patience.seconds * 1_000, FIRST_OUTCOME_MS);
  const made = await makeCall(making, { ...make, withinMs });
  // Told apart from a call that was made before under this Idempotency-Key and answered `pending`.
  if (made.pending !== undefined) {
    const bound = await bind(principal, made.call.id, by);
    if (bound !== undefined) return bound;
    throw new HttpProblem('call-ended', {
      detail: 'the decision of this call was given to another request; ask for a new call',
      extensions: { callId: made.call.id, callStatus: made.call.status, tool: request.tool },
    });
  }
  const state = await wait(made);
  if (!isParked(state)) return { kind: 'decided', state };
  const answered = await making.gateway.answerPending(principal.tenant, state.call.id, input);
  const now = await currentState(principal, state, answered);
  if (answered.kind === 'reply' && answered.reply.kind === 'pending') return { kind: 'pending', state: now };
  return { kind: 'decided', state: now };
}

/** Waits as long as the caller can; and longer for a tool that runs, when the caller wants that. */
export async function awaitInTime(
  store: TenantStore,
  from: ToolCallState,
  { left, patience }: { left: () => number; patience: Patience },
): Promise<ToolCallState> {
  const { signal, whileRunning = false, onState } = patience;
  const told = onState === undefined ? {} : { onState };
  let state = await awaitDecision(store, from, { seconds: left(), signal, ...told });
  while (whileRunning && state.call.status === 'running' && !signal.aborted) {
    state = await awaitDecision(store, state, { seconds: LONG_S, signal, ...told });
  }
  return state;
}

/** Only bounds one look at a time. */
const LONG_S = 60;

/** How long, and how often, a call is asked to be found again after its caller had to go. */
const INDEX_MS = 60_000;
const INDEX_AGAIN_MS = 500;

/**
 * For a caller that had to be told `pending` before the call had an outcome: makes the call to be found by the same
 * request, as soon as its workflow takes a message.
 */
export function indexPendingLater(
  { gateway }: CallMaking,
  make: MakeCall,
  { callId, workspace }: { callId: string; workspace?: string },
): void {
  const input = pendingInput(make, workspace);
  const until = Date.now() + INDEX_MS;
  const attempt = async (): Promise<void> => {
    const reached = await gateway.answerPending(make.principal.tenant, callId, input).catch(() => undefined);
    if (reached?.kind === 'reply' || Date.now() > until) return;
    setTimeout(() => void attempt(), INDEX_AGAIN_MS).unref();
  };
  void attempt();
}

/** Binds the request to a call that was answered `pending`; nothing when that call is somebody else's. */
async function bind(
  principal: NexusPrincipal,
  callId: string,
  by: {
    input: PendingInput;
    claims: PendingClaims;
    wait: (state: ToolCallState) => Promise<ToolCallState>;
  },
): Promise<MadeInTime | undefined> {
  const { store } = principal;
  for (;;) {
    const known = await store.calls.readToolCall(callId);
    if (known === undefined) return undefined;
    if (!isOpen(known.state.call.status)) return bindEnded(principal, known.state, by.input);
    const reached = await by.claims.claim(principal, known.state, by.input);
    const state = await currentState(principal, known.state, reached);
    if (reached.kind !== 'reply') {
      // Ended between the two looks, or terminated: the reconciler closes that one.
      return isOpen(state.call.status) ? undefined : bindEnded(principal, state, by.input);
    }
    if (reached.reply.kind === 'taken') return undefined;
    const waited = await by.wait(state);
    if (reached.reply.kind === 'yours' && !isParked(waited)) return { kind: 'decided', state: waited };
    if (isParked(waited)) return { kind: 'pending', state: waited };
  }
}

/** Ends that somebody was told of as `pending`, and that nobody has heard of yet. */
const TOLD_ONCE: ReadonlySet<CallStatus> = new Set<CallStatus>(['denied', 'completed', 'failed']);

/** Told again to whoever asked before; a decision that nobody was told, once to the next. */
async function bindEnded(
  { store }: NexusPrincipal,
  state: ToolCallState,
  { claimant }: PendingInput,
): Promise<MadeInTime | undefined> {
  const { call, pending } = state;
  if (pending?.claimants.includes(claimant) === true) return { kind: 'decided', state };
  if (!TOLD_ONCE.has(call.status) || pending?.handedTo !== undefined) return undefined;
  const told = await store.pendingCalls.tellEnd(call.id, claimant);
  return told === 'told' ? { kind: 'decided', state } : undefined;
}

async function currentState(
  principal: NexusPrincipal,
  { call }: ToolCallState,
  reached: Reached<unknown>,
): Promise<ToolCallState> {
  if (reached.kind === 'undecided' || reached.kind === 'unavailable') {
    throw notDecidedProblem(reached, { threadId: call.threadId, callId: call.id }, principal);
  }
  const now = await principal.store.calls.readToolCall(call.id);
  if (now === undefined) throw new HttpProblem('not-found', { detail: 'the call is not known any more' });
  return now.state;
}

function pendingInput(
  { principal, threadId, request, idempotencyKey }: MakeCall,
  workspace?: string,
): PendingInput {
  const { tool, input, toolUseId } = request;
  const { owner } = principal.key;
  const inputDigest = subjectDigest({ point: 'before_tool_call', tool, value: input });
  const identity = sha256Hex(
    canonicalJson({ threadId, tool, inputDigest, owner, workspace: workspace ?? null }),
  );
  const own = idempotencyKey === undefined ? `request:${v4()}` : `key:${sha256Hex(idempotencyKey)}`;
  return {
    identity,
    claimant: toolUseId === undefined ? own : `tool-use:${toolUseId}`,
    ...(toolUseId !== undefined && { toolUseId }),
  };
}
