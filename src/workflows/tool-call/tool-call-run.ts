import type { CallStoreActivities } from '../../activities/call-store';
import type { Outcome } from '../../domain/tool-call-outcome';
import { isOpen, type ToolCallStart } from '../../domain/tool-call';
import { answerCall, type AnswerInput, type ResolveReply } from '../../domain/tool-call-answer';
import {
  cancelCall,
  initialState,
  openCall,
  openOnClosedThread,
  reportResult,
  restate,
  tickCall,
  type CancelInput,
  type CancelReply,
  type ResultInput,
  type ResultReply,
} from '../../domain/tool-call-machine';
import type { ToolCallState } from '../../domain/tool-call-state';
import type { Transition } from '../../domain/transition';
import { Mutex } from '../mutex';

/**
 * A running tool call: applies messages and the clock to the rules of domain/tool-call-machine, and stores each step
 * before anybody is told of it. Knows Temporal only through what it is given.
 *
 *   R1  One step at a time: a message waits until the step before it is stored.
 *   R2  A step whose number is taken in the store is not made: the stored state is adopted, and the input is applied
 *       to that (transition.ts, T4).
 *   R3  Before a message is refused, the state is compared with the store's: a step from before a crash may be there
 *       that this run has not seen.
 */
export class ToolCallRun {
  state: ToolCallState;
  private readonly steps = new Mutex();

  constructor(
    private readonly start: ToolCallStart,
    private readonly given: {
      store: CallStoreActivities;
      /** Milliseconds since the epoch. */
      now: () => number;
      onChange: (state: ToolCallState) => void;
    },
  ) {
    // The server stored the first step itself: with the same function, of the same arguments.
    this.state = start.storedAsAllowed
      ? openCall(start, Date.parse(start.createdAt)).state
      : initialState(start);
  }

  get decided(): boolean {
    return this.state.n > 0;
  }

  get ended(): boolean {
    return this.decided && !isOpen(this.state.call.status);
  }

  /** Asks the hooks until one parks the call or it is decided. */
  async open(): Promise<void> {
    await this.steps.run(async () => {
      if (this.decided) return;
      const first = await this.commit(openCall(this.start, this.given.now()), { onlyIfThreadOpen: true });
      if (first === 'thread_closed') await this.commit(openOnClosedThread(this.start, this.given.now()));
    });
  }

  answer(input: AnswerInput): Promise<ResolveReply> {
    return this.perform(
      (now) => answerCall(this.start, this.state, { input, now }),
      (reply) => reply.ok,
    );
  }

  report(input: ResultInput): Promise<ResultReply> {
    return this.perform(
      (now) => reportResult(this.start, this.state, { input, now }),
      (reply) => reply.ok,
    );
  }

  cancel(input: CancelInput): Promise<CancelReply> {
    return this.perform(
      (now) => cancelCall(this.start, this.state, { input, now }),
      (reply) => reply.ok,
    );
  }

  /** Ends what is due by the clock. */
  async tick(): Promise<void> {
    await this.steps.run(async () => {
      const due = tickCall(this.start, this.state, this.given.now());
      if (due !== undefined) await this.commit(due);
    });
  }

  /** Adopts what the store has and this run has not, or gives the store back what it lost. */
  async catchUp(): Promise<void> {
    await this.steps.run(async () => {
      const stored = await this.compare();
      if (this.decided && (stored === null || stored.n < this.state.n)) {
        await this.commit(restate(this.state), { start: this.start });
      }
    });
  }

  private perform<Reply>(
    apply: (now: number) => Outcome<Reply>,
    accepted: (reply: Reply) => boolean,
  ): Promise<Reply> {
    return this.steps.run(async () => {
      for (let compared = false; ;) {
        const outcome = apply(this.given.now());
        if (!compared && !accepted(outcome.reply)) {
          await this.compare();
          compared = true;
          continue;
        }
        if (outcome.kind === 'reply') return outcome.reply;
        if ((await this.commit(outcome.transition)) === 'applied') return outcome.reply;
      }
    });
  }

  private async compare(): Promise<ToolCallState | null> {
    const { tenant, callId } = this.start;
    const stored = await this.given.store.readState({ tenant, callId });
    if (stored !== null && stored.n > this.state.n) this.become(stored);
    return stored;
  }

  private async commit(
    transition: Transition,
    options: { onlyIfThreadOpen?: boolean; start?: ToolCallStart } = {},
  ): Promise<'applied' | 'taken' | 'thread_closed'> {
    const start = transition.n === 1 ? this.start : options.start;
    const reply = await this.given.store.commitStep({
      tenant: this.start.tenant,
      transition,
      onlyIfThreadOpen: options.onlyIfThreadOpen ?? false,
      ...(start !== undefined && { start }),
    });
    if (reply.kind === 'applied') this.become(transition.state);
    if (reply.kind === 'taken') this.become(reply.state);
    return reply.kind;
  }

  private become(state: ToolCallState): void {
    this.state = state;
    this.given.onChange(state);
  }
}
