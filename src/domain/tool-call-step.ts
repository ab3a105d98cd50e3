import { hookDecision, type EventDraft } from './audit';
import type { Denial, Reason } from './denial';
import { applyAnswer, type ChainState, type ProcessorAnswer } from './hook-chain';
import type { ClientProcessor, PlacedHook } from './hook';
import type { StoredWait } from './stored-wait';
import type { Subject } from './subject';
import type { CallRecord, CallStatus, ToolCallStart } from './tool-call';
import type { ToolCallState } from './tool-call-state';
import type { Transition } from './transition';
import type { Wait, WaitOutcome } from './wait';

/** A step in the making: the state after it, and what the store must write with it. */
export class ToolCallStep {
  private readonly events: EventDraft[] = [];
  private readonly waits = new Map<string, StoredWait>();
  private readonly keepBlobs = new Set<string>();

  constructor(
    readonly start: ToolCallStart,
    public state: ToolCallState,
    /** The workflow's clock, in milliseconds since the epoch. */
    readonly now: number,
  ) {}

  note(event: EventDraft): void {
    this.events.push(event);
  }

  update(change: Partial<Omit<ToolCallState, 'n'>>): void {
    this.state = { ...this.state, ...change };
  }

  updateCall(change: Partial<CallRecord>): void {
    this.update({ call: { ...this.state.call, ...change, updatedAt: timestamp(this.now) } });
  }

  putWait(wait: StoredWait): void {
    this.waits.set(wait.wait.id, wait);
    this.update({ wait });
    this.keep(wait.wait.subject);
  }

  keep(subject: Subject): void {
    if (subject.kind === 'blob') this.keepBlobs.add(subject.blob);
  }

  /** Parks the call for a person. */
  openWait(placed: PlacedHook, processor: ClientProcessor): void {
    const { start, now } = this;
    const { chain } = this.state;
    const waitsOpened = this.state.waitsOpened + 1;
    const wait: Wait = {
      id: `${start.callId}-w${waitsOpened}`,
      hookId: placed.hook.id,
      index: placed.index,
      point: placed.hook.point,
      kind: 'client',
      title: processor.title ?? `Allow ${start.tool}?`,
      subject: chain.subject,
      openedAt: now,
      expiresAt: now + processor.asyncTimeoutMs,
      needed: processor.minApprovals,
      ...(processor.approvers !== undefined && { approvers: processor.approvers }),
      allowSelfApproval: processor.allowSelfApproval,
      requestedBy: start.requestedBy.owner,
      edited: chain.rewrittenBy.length > 0,
      rewrote: false,
      votes: [],
    };
    const expiresAt = timestamp(wait.expiresAt);
    this.update({ waitsOpened });
    this.putWait({ wait, callId: start.callId, threadId: start.threadId, tool: start.tool, answers: [] });
    this.updateCall({ status: 'waiting', input: chain.subject, expiresAt });
    this.note({
      type: 'wait_opened',
      data: {
        callId: start.callId,
        waitId: wait.id,
        hookId: wait.hookId,
        kind: wait.kind,
        needed: wait.needed,
        subjectDigest: wait.subject.digest,
        expiresAt,
      },
    });
  }

  /** Records the outcome of the open wait and lets it into the chain. */
  closeWait(
    stored: StoredWait & { wait: { outcome: WaitOutcome } },
    placed: PlacedHook,
    answer: ProcessorAnswer,
  ): void {
    const { wait } = stored;
    const { outcome } = wait;
    this.putWait(stored);
    this.note({
      type: 'wait_resolved',
      data: {
        callId: stored.callId,
        waitId: wait.id,
        hookId: wait.hookId,
        outcome: outcome.kind,
        ...(outcome.kind === 'answered' && { decision: outcome.decision }),
        by: resolversOf(outcome),
        subjectDigest: wait.subject.digest,
        ...(answer.outcome === 'answered' && answer.rewrite !== undefined && { rewrote: true as const }),
      },
    });
    this.applyToChain(placed, answer, this.now - wait.openedAt);
  }

  applyToChain(placed: PlacedHook, answer: ProcessorAnswer, latencyMs: number): void {
    const before: ChainState = this.state.chain;
    const chain = applyAnswer(before, placed, answer);
    this.update({ chain });
    this.note(
      hookDecision(placed, {
        answer,
        callId: this.start.callId,
        profileVersion: this.start.profile.version,
        latencyMs,
        digestBefore: before.subject.digest,
        digestAfter: chain.subject.digest,
      }),
    );
  }

  /** Lets the caller run the tool with the composed value. */
  allow(): void {
    const { chain } = this.state;
    this.keep(chain.subject);
    this.updateCall({
      status: 'allowed',
      input: chain.subject,
      expiresAt: timestamp(this.now + this.start.profile.timeouts.outputTimeoutMs),
    });
  }

  /** Ends the call. */
  finish(status: CallStatus, denial?: Denial): void {
    const { expiresAt: _, ...call } = this.state.call;
    this.update({ call });
    this.updateCall({ status, ...(denial !== undefined && { denial }) });
    this.note({
      type: 'tool_call_finished',
      data: {
        callId: this.start.callId,
        status,
        ...(denial !== undefined && { denial: auditedDenial(denial) }),
      },
    });
  }

  /** The finished step. */
  transition(): Transition {
    const state = { ...this.state, n: this.state.n + 1 };
    return {
      n: state.n,
      state,
      at: timestamp(this.now),
      call: state.call,
      waits: [...this.waits.values()],
      events: this.events,
      keepBlobs: [...this.keepBlobs],
    };
  }
}

export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}

function resolversOf(outcome: WaitOutcome): readonly string[] {
  if (outcome.kind === 'answered') return outcome.by;
  return outcome.kind === 'cancelled' ? [outcome.by] : [];
}

function auditedDenial({ by, hookId, reason }: Denial): {
  by: Denial['by'];
  hookId?: string;
  reason: Reason;
} {
  return { by, ...(hookId !== undefined && { hookId }), reason };
}
