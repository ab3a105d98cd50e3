/** Runs an ordinary activity so that `stop` ends it; undefined when it was ended so. */
export type Stoppable = <Result>(run: () => Promise<Result>) => {
  done: Promise<Result | undefined>;
  stop: () => void;
};

/** The asking of one hook that is under way, while messages are taken. It ends when another place is due. */
export class PatientAsking {
  private current: { readonly place: string; readonly stop: () => void } | undefined;

  constructor(private readonly stoppable: Stoppable) {}

  /** Undefined: it was ended. */
  async run<Reply>(place: string, ask: () => Promise<Reply>): Promise<Reply | undefined> {
    const { done, stop } = this.stoppable(ask);
    const asking = { place, stop };
    this.current = asking;
    const reply = await done;
    if (this.current === asking) this.current = undefined;
    return reply;
  }

  /** Ends an asking whose answer is pointless by now. */
  dueIs(place: string): void {
    if (this.current !== undefined && this.current.place !== place) this.current.stop();
  }
}
