import type { CallStoreActivities } from '../../activities/call-store';
import type { Outcome } from '../../domain/call-outcome';
import { isOpen, isTextStart, type CallStart, type ToolCallStart } from '../../domain/call';
import { answerCall, type AnswerInput, type ResolveReply } from '../../domain/call-answer';
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
} from '../../domain/call-machine';
import {
  answerPending,
  claimDecision,
  type PendingInput,
  type PendingReply,
} from '../../domain/call-pending';
import { dueHook, duePlace, isRunDue, isSettled, type CallState } from '../../domain/call-state';
import type { Transition } from '../../domain/transition';
import { Mutex } from '../mutex';
import type { HookAsking } from './hook-asking';
import { isAgentHook, type PlacedAgentHook } from '../../domain/hook';
import type { PatientReply } from '../../activities/hook-activities';
import { PatientAsking, type Stoppable } from './patient-asking';

/**
 * A running tool call: applies messages and the clock to the rules of domain/call-machine, and stores each step
 * before anybody is told of it. Knows Temporal only through what it is given.
 *
 *   R1  One step at a time: a message waits until the step before it is stored.
 *   R2  A step whose number is taken in the store is not made: the stored state is adopted, and the input is applied
 *       to that (transition.ts, T4).
 *   R3  Before a message is refused, the state is compared with the store's: a step from before a crash may be there
 *       that this run has not seen.
 *   R4  While a hook is asked patiently, messages are taken. One that makes the hook's answer pointless ends the asking;
 *       whichever is stored first stands.
 */
export class CallRun {
  state: CallState;
  private readonly steps = new Mutex();
  /** Attempts at the due hook that an earlier activity made. */
  private attemptsMade = 0;
  private readonly asking: PatientAsking;

  constructor(
    private readonly start: CallStart,
    private readonly given: {
      store: CallStoreActivities;
      hooks: HookAsking;
      /** Milliseconds since the epoch. */
      now: () => number;
      onChange: (state: CallState) => void;
      stoppable: Stoppable;
      /** Has the tool run. */
      runTool: (start: ToolCallStart) => Promise<PatientReply>;
      /** Has an agent hook judge. */
      review: (call: { tenant: string; callId: string }, placed: PlacedAgentHook) => Promise<PatientReply>;
    },
  ) {
    this.asking = new PatientAsking(given.stoppable);
    // The server stored the first step itself: with the same function, of the same arguments.
    const stored = !isTextStart(start) && start.storedAsAllowed;
    this.state = stored ? openCall(start, Date.parse(start.createdAt)).state : initialState(start);
  }

  /** Whether something is stored of the call. */
  get known(): boolean {
    return this.state.n > 0;
  }

  /** Whether the call has an outcome for now: parked, allowed, or ended. */
  get settled(): boolean {
    return isSettled(this.state);
  }

  /** Whether the service has to run the tool now. */
  get runDue(): boolean {
    return this.known && isRunDue(this.state);
  }

  get ended(): boolean {
    return this.known && !isOpen(this.state.call.status);
  }

  /** Goes through the hooks until one parks the call, it is decided, or one has to be asked patiently. */
  async open(): Promise<void> {
    await this.steps.run(async () => {
      if (this.known) return;
      const first = await this.commitWithAnswer(openCall(this.start, this.given.now()), true);
      if (first === 'thread_closed') await this.commit(openOnClosedThread(this.start, this.given.now()));
    });
  }

  /** Asks the due hook. */
  async askDueHook(): Promise<void> {
    const atOnce = await this.steps.run(async () => {
      const placed = dueHook(this.start, this.state);
      if (placed === undefined || this.attemptsMade > 0 || !this.given.hooks.mayTryAtOnce(placed))
        return false;
      return (await this.askAtOnce({ state: this.state }, placed.hook.id, false)) !== 'undecided';
    });
    if (!atOnce) await this.askPatiently();
  }

  /** Runs the tool, unless that is over or somebody has given the call up meanwhile. */
  async runTool(): Promise<void> {
    const { start } = this;
    if (isTextStart(start)) throw new Error('a text is no tool');
    await this.adopt(await this.asking.run(duePlace(this.state), () => this.given.runTool(start)));
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
      (transition) => this.commitWithAnswer(transition, false),
    );
  }

  cancel(input: CancelInput): Promise<CancelReply> {
    return this.perform(
      (now) => cancelCall(this.start, this.state, { input, now }),
      (reply) => reply.ok,
    );
  }

  answerPending(input: PendingInput): Promise<PendingReply> {
    return this.perform(
      (now) => answerPending(this.start, this.state, { input, now }),
      (reply) => reply.kind !== 'taken',
    );
  }

  claim(input: PendingInput): Promise<PendingReply> {
    return this.perform(
      (now) => claimDecision(this.start, this.state, { input, now }),
      (reply) => reply.kind !== 'taken',
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
      if (this.known && (stored === null || stored.n < this.state.n)) {
        await this.commit(restate(this.start, this.state), { start: this.start });
      }
    });
  }

  private perform<Reply>(
    apply: (now: number) => Outcome<Reply>,
    accepted: (reply: Reply) => boolean,
    commit = (transition: Transition): Promise<unknown> => this.commit(transition),
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
        if ((await commit(outcome.transition)) === 'applied') return outcome.reply;
      }
    });
  }

  private async compare(): Promise<CallState | null> {
    const { tenant, callId } = this.start;
    const stored = await this.given.store.readState({ tenant, callId });
    if (stored !== null && stored.n > this.state.n) this.become(stored);
    return stored;
  }

  /** Stores a step together with the answer of the hook that is due after it, when that comes at once. */
  private async commitWithAnswer(made: Transition, onlyIfThreadOpen: boolean) {
    const placed = dueHook(this.start, made.state);
    if (placed !== undefined && this.given.hooks.mayTryAtOnce(placed)) {
      const reply = await this.askAtOnce({ made }, placed.hook.id, onlyIfThreadOpen);
      if (reply !== 'undecided') return reply;
    }
    const { attemptsMade } = this;
    const reply = await this.commit(made, { onlyIfThreadOpen });
    if (reply === 'applied') this.attemptsMade = attemptsMade;
    return reply;
  }

  private async askAtOnce(
    from: { state: CallState } | { made: Transition },
    hookId: string,
    onlyIfThreadOpen: boolean,
  ): Promise<'applied' | 'taken' | 'thread_closed' | 'undecided'> {
    const { start } = this;
    const reply = await this.given.hooks.atOnce(
      { start, from, now: this.given.now(), onlyIfThreadOpen },
      hookId,
    );
    if (reply === undefined || reply.kind === 'undecided') {
      this.attemptsMade = reply?.attemptsMade ?? 1;
      return 'undecided';
    }
    if (reply.kind !== 'thread_closed') {
      this.become(reply.state);
      this.attemptsMade = reply.attemptsMade;
    }
    return reply.kind;
  }

  private async askPatiently(): Promise<void> {
    const { tenant, callId } = this.start;
    const placed = dueHook(this.start, this.state);
    if (placed === undefined) return;
    const now = this.given.now();
    const { attemptsMade } = this;
    const reply = await this.asking.run(duePlace(this.state), () =>
      isAgentHook(placed)
        ? this.given.review({ tenant, callId }, placed)
        : this.given.hooks.patiently({ tenant, callId, now, attemptsMade }, placed),
    );
    await this.adopt(reply);
  }

  private async adopt(reply: PatientReply | undefined): Promise<void> {
    if (reply === undefined) return;
    if (reply.kind === 'nothing_due') await this.catchUp();
    else if (reply.state.n > this.state.n) this.become(reply.state);
  }

  private async commit(
    transition: Transition,
    options: { onlyIfThreadOpen?: boolean; start?: CallStart } = {},
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

  private become(state: CallState): void {
    if (duePlace(state) !== duePlace(this.state)) this.attemptsMade = 0;
    this.state = state;
    this.asking.dueIs(duePlace(state));
    this.given.onChange(state);
  }
}
