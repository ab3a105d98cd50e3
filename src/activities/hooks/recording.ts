import { readHookResult } from '../../domain/hook-result';
import type { JsonValue } from '../../domain/json-value';
import type { CallStart } from '../../domain/call';
import { applyHookAnswer, type HookAnswer } from '../../domain/call-evaluation';
import { dueHook, pointOf, type CallState } from '../../domain/call-state';
import { CallStep, type Asked } from '../../domain/call-step';
import type { Transition } from '../../domain/transition';
import type { TenantStore } from '../../store/tenant-store';
import { judgedResult, type AskedCall } from './judged-answer';

export type EvaluationResult =
  | { readonly kind: 'applied' | 'taken'; readonly state: CallState }
  | { readonly kind: 'thread_closed' }
  | { readonly kind: 'undecided'; readonly attempts: number };

/** What is recorded on: a call, after the last stored step or after one that is made and is stored with the answer. */
export interface Recorded {
  readonly store: TenantStore;
  readonly start: CallStart;
  readonly from: { readonly state: CallState } | { readonly made: Transition };
  readonly onlyIfThreadOpen: boolean;
}

/** Stores an answer as the next step of its call, on whatever that call has become while the hook was asked. */
export class Recording {
  constructor(
    private readonly evaluation: Recorded,
    private readonly call: AskedCall,
    private readonly clock: () => number,
    private readonly asked: Asked,
    private readonly auditRules: ReturnType<TenantStore['calls']['readAuditRules']> | undefined,
  ) {}

  async store(answer: HookAnswer): Promise<EvaluationResult> {
    const { start, from } = this.evaluation;
    const due = 'made' in from ? from.made.state : from.state;
    for (let base = from; ;) {
      const reply = await this.commit(base, answer);
      if (reply.kind === 'answered') return this.storeEarly(reply.answer);
      if (reply.kind === 'taken') {
        const next = dueHook(start, reply.state);
        if (next === undefined || pointOf(reply.state) !== pointOf(due) || reply.state.asked !== due.asked) {
          await this.discard(answer);
          return reply;
        }
        base = { state: reply.state };
        continue;
      }
      if (reply.kind === 'thread_closed') await this.discard(answer);
      return reply;
    }
  }

  private async commit(base: Recorded['from'], answer: HookAnswer) {
    const { start, store, onlyIfThreadOpen } = this.evaluation;
    const { delivery } = this.asked;
    const step =
      'made' in base
        ? CallStep.resume(start, base.made, this.clock())
        : new CallStep(start, base.state, this.clock());
    applyHookAnswer(step, answer, this.asked);
    const transition = step.transition();
    const result = await store.calls.commit(transition, {
      ...(transition.n === 1 && { start, onlyIfThreadOpen }),
      ...(delivery !== undefined && {
        delivery: { deliveryId: delivery.deliveryId, unlessAnswered: answer.kind === 'later' },
      }),
      ...(this.auditRules !== undefined && { auditRules: this.auditRules }),
    });
    if (result.kind === 'changed') throw new Error('a commit without a generation cannot be refused for one');
    return result.kind === 'applied' ? { kind: 'applied' as const, state: transition.state } : result;
  }

  private async storeEarly(answer: JsonValue): Promise<EvaluationResult> {
    const { from } = this.evaluation;
    const point = pointOf('made' in from ? from.made.state : from.state);
    const reading = readHookResult(answer, point, 'hook');
    // It was read like this before it was kept.
    if (!reading.ok) throw new Error('an early answer is kept that is no HookResult');
    const judged = await judgedResult(this.call, reading.result);
    return this.store(judged.kind === 'result' ? { ...judged, late: true } : judged);
  }

  /** Nobody refers to the rewrite of an answer that did not count. */
  private async discard(answer: HookAnswer): Promise<void> {
    const rewrite = answer.kind === 'result' ? answer.result.rewrite : undefined;
    if (rewrite?.kind !== 'blob') return;
    await this.evaluation.store.blobs.discard(this.evaluation.start.callId, rewrite.blob);
  }
}
