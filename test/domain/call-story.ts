import type { EventDraft } from '../../src/domain/audit';
import type { ToolCallStart } from '../../src/domain/call';
import { answerCall, type AnswerInput, type ResolveReply } from '../../src/domain/call-answer';
import {
  cancelCall,
  openCall,
  reportResult,
  tickCall,
  type CancelInput,
  type CancelReply,
  type ResultReply,
} from '../../src/domain/call-machine';
import type { Outcome } from '../../src/domain/call-outcome';
import { openWaitOf, type CallState } from '../../src/domain/call-state';
import type { Transition } from '../../src/domain/transition';
import type { WaitAnswer } from '../../src/domain/wait';
import { blobOf, person, T0 } from './fixtures';

/** One call from its first step on, with everything that it told the store. */
export class Story {
  readonly steps: Transition[];
  private answers = 0;

  constructor(
    readonly start: ToolCallStart,
    public now = T0,
    /** What happens to a state between two inputs: it goes through the store. */
    private readonly keep: (state: CallState) => CallState = (state) => state,
  ) {
    this.steps = [openCall(start, now)];
  }

  get state(): CallState {
    const last = this.steps.at(-1);
    if (last === undefined) throw new Error('a story begins with a step');
    return this.keep(last.state);
  }

  get events(): EventDraft[] {
    return this.steps.flatMap(({ events }) => events);
  }

  /** The id of the open wait, else of the last one. */
  get waitId(): string {
    return this.state.wait?.wait.id ?? 'none';
  }

  /** The digest that the open wait stands for. */
  get seen(): string {
    return this.state.wait?.wait.subject.digest ?? 'none';
  }

  get isParked(): boolean {
    return openWaitOf(this.state) !== undefined;
  }

  answer(owner: string, answer: WaitAnswer, change: Partial<AnswerInput> = {}): ResolveReply {
    this.answers += 1;
    const input: AnswerInput = {
      waitId: this.waitId,
      answerId: `answer ${this.answers}`,
      answerDigest: JSON.stringify(answer),
      answer,
      principal: person(owner),
      ...change,
    };
    return this.take(answerCall(this.start, this.state, { input, now: this.now }));
  }

  cancel(code: CancelInput['code'] = 'call_cancelled', by = 'agent'): CancelReply {
    return this.take(cancelCall(this.start, this.state, { input: { by, code }, now: this.now }));
  }

  report(result: 'output' | 'error'): ResultReply {
    const input = { result, blob: blobOf(result) };
    return this.take(reportResult(this.start, this.state, { input, now: this.now }));
  }

  /** Moves the clock; true when something was due. */
  tick(ms: number): boolean {
    this.now += ms;
    const due = tickCall(this.start, this.state, this.now);
    if (due !== undefined) this.steps.push(due);
    return due !== undefined;
  }

  private take<Reply>(outcome: Outcome<Reply>): Reply {
    if (outcome.kind === 'step') this.steps.push(outcome.transition);
    return outcome.reply;
  }
}
