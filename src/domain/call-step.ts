import { askDecision, hookDecision, type DecisionFacts, type EventDraft } from './audit';
import type { Denial, Reason } from './denial';
import { applyAnswer, composeRewrite, type ProcessorAnswer } from './hook-chain';
import { DEFAULT_GRANT_TTL_MS } from './hook-limits';
import type { Judge } from './judge';
import { isQuarantined } from './point';
import type { StoredWait } from './stored-wait';
import type { Subject } from './subject';
import {
  isToolCall,
  runsHere,
  type CallStart,
  type CallStatus,
  type RecordBase,
  type ToolCallRecord,
} from './call';
import { pointOf, type CallState } from './call-state';
import type { Transition } from './transition';
import { blobsInUse } from './blobs-in-use';

/** How a decision came about, for the audit. */
export type Asked = Pick<DecisionFacts, 'latencyMs' | 'delivery' | 'review'>;

/** A step in the making: the state after it, and what the store must write with it. */
export class CallStep {
  private readonly events: EventDraft[] = [];
  private readonly waits = new Map<string, StoredWait>();
  /** Blobs that the call referred to at some moment of the step. */
  private readonly touched: Set<string>;
  private indexPending: string | undefined;
  private alias: string | undefined;

  constructor(
    readonly start: CallStart,
    public state: CallState,
    /** The workflow's clock, in milliseconds since the epoch. */
    readonly now: number,
  ) {
    this.touched = new Set(blobsInUse(start, state));
  }

  /** Goes on with a step that was finished and is not stored yet. */
  static resume(start: CallStart, made: Transition, now: number): CallStep {
    const step = new CallStep(start, { ...made.state, n: made.n - 1 }, now);
    step.events.push(...made.events);
    for (const wait of made.waits) step.waits.set(wait.wait.id, wait);
    for (const blob of made.dropBlobs ?? []) step.touched.add(blob);
    step.indexPending = made.indexPending;
    step.alias = made.alias;
    return step;
  }

  note(event: EventDraft): void {
    this.events.push(event);
  }

  update(change: Partial<Omit<CallState, 'n'>>): void {
    this.state = { ...this.state, ...change };
    for (const blob of blobsInUse(this.start, this.state)) this.touched.add(blob);
  }

  updateCall(change: Partial<RecordBase>): void {
    this.update({ call: { ...this.state.call, ...change, updatedAt: timestamp(this.now) } });
  }

  /** The same for what only a tool call has. */
  updateToolCall(change: Partial<ToolCallRecord>): void {
    const { call } = this.state;
    if (!isToolCall(call)) throw new Error('a text has no input and no output');
    this.update({ call: { ...call, ...change, updatedAt: timestamp(this.now) } });
  }

  /** The text is let through. */
  keepText(): void {
    const { call, chain } = this.state;
    if (isToolCall(call) || chain.subject.kind !== 'blob') throw new Error('a text is kept in a blob');
    this.update({ call: { ...call, text: chain.subject } });
  }

  putWait(wait: StoredWait): void {
    this.waits.set(wait.wait.id, wait);
    this.update({ wait });
  }

  private get facts(): Omit<DecisionFacts, 'latencyMs'> {
    return { callId: this.start.callId, profileVersion: this.start.profile.version };
  }

  /** The call is undecided; without `expiresAt` because a hook is being asked. */
  await({ expiresAt }: { expiresAt?: string }): void {
    const { expiresAt: _, ...call } = this.state.call;
    this.update({ call });
    this.updateCall({ status: 'waiting', ...(expiresAt !== undefined && { expiresAt }) });
    if (!isQuarantined(pointOf(this.state))) this.updateToolCall({ input: this.state.chain.subject });
  }

  /** Lets an answer into the chain and records it as the judge's decision. */
  decide(judge: Judge, answer: ProcessorAnswer, asked: Asked): void {
    const before = this.state.chain.subject;
    this.update({ chain: applyAnswer(this.state.chain, judge, answer) });
    const after = this.state.chain.subject;
    this.note(hookDecision(judge, { ...this.facts, ...asked, answer, before, after }));
  }

  /** Lets a person's answer into the chain whose question was the judge's recorded decision. */
  decideUnrecorded(judge: Judge, answer: ProcessorAnswer): void {
    this.update({ chain: applyAnswer(this.state.chain, judge, answer) });
  }

  /** Records that a judge asks for a person, and composes its rewrite, so that the person sees it. */
  decideToAsk(judge: Judge, { reason, rewrite }: { reason?: string; rewrite?: Subject }, asked: Asked): void {
    const { chain } = this.state;
    const before = chain.subject;
    if (rewrite !== undefined && judge.mode === 'enforce') {
      this.update({ chain: composeRewrite(chain, judge, { by: 'policy', rewrite }) });
    }
    const after = rewrite ?? before;
    this.note(
      askDecision(judge, { ...this.facts, ...asked, ...(reason !== undefined && { reason }), before, after }),
    );
  }

  /** Lets the tool run with the composed value: the caller, or the service, which begins at once. */
  allow(): void {
    const { chain, pending } = this.state;
    const { timeouts } = this.start.profile;
    const unclaimed = pending !== undefined && pending.handedTo === undefined;
    if (!unclaimed && runsHere(this.start)) {
      this.updateToolCall({ input: chain.subject });
      this.run();
      return;
    }
    const ms = unclaimed ? (timeouts.approvalGrantTtlMs ?? DEFAULT_GRANT_TTL_MS) : timeouts.outputTimeoutMs;
    this.updateToolCall({ status: 'allowed', input: chain.subject, expiresAt: timestamp(this.now + ms) });
  }

  /** The service is to run the tool. */
  run(): void {
    const { expiresAt: _, ...call } = this.state.call;
    this.update({ call });
    this.updateCall({ status: 'running' });
  }

  /** Remembers that the caller was told `pending`, and how it finds the call again. */
  rememberPending(identity: string, claimants: readonly string[]): void {
    this.update({ pending: { identity, claimants } });
    this.indexPending = identity;
  }

  addClaimant(claimant: string, handedTo?: string): void {
    const { pending } = this.state;
    if (pending === undefined) throw new Error('only a call that was answered `pending` is claimed');
    const claimants = pending.claimants.includes(claimant)
      ? pending.claimants
      : [...pending.claimants, claimant];
    this.update({ pending: { ...pending, claimants, ...(handedTo !== undefined && { handedTo }) } });
  }

  addAlias(toolUseId: string): void {
    this.alias = toolUseId;
  }

  /** Ends the call. */
  finish(status: CallStatus, { denial, shows }: { denial?: Denial; shows?: Subject } = {}): void {
    const { expiresAt: _, ...call } = this.state.call;
    this.update({ call });
    this.updateCall({ status, ...(denial !== undefined && { denial }) });
    const data = {
      callId: this.start.callId,
      status,
      ...(denial !== undefined && { denial: auditedDenial(denial) }),
    };
    const type = isToolCall(this.state.call) ? 'tool_call_finished' : 'text_finished';
    this.note({ type, data, ...(shows !== undefined && { shows }) });
  }

  /** The finished step. */
  transition(): Transition {
    const state = { ...this.state, n: this.state.n + 1 };
    const keepBlobs = blobsInUse(this.start, state);
    const dropBlobs = [...this.touched].filter((blob) => !keepBlobs.includes(blob));
    return {
      n: state.n,
      state,
      at: timestamp(this.now),
      call: state.call,
      waits: [...this.waits.values()],
      events: this.events,
      keepBlobs,
      ...(dropBlobs.length > 0 && { dropBlobs }),
      ...(this.indexPending !== undefined && { indexPending: this.indexPending }),
      ...(this.alias !== undefined && { alias: this.alias }),
    };
  }
}

export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}

function auditedDenial({ by, hookId, reason }: Denial): {
  by: Denial['by'];
  hookId?: string;
  reason: Reason;
} {
  return { by, ...(hookId !== undefined && { hookId }), reason };
}
