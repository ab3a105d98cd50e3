/** Runs tasks one after the other, in the order in which they came; the first of them at once. */
export class Mutex {
  private last: Promise<unknown> | undefined;

  run<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.last === undefined ? task() : this.last.then(task);
    const settled: Promise<unknown> = result.then(free, free);
    this.last = settled;
    const { release } = this;
    function free(): void {
      release(settled);
    }
    return result;
  }

  private readonly release = (settled: Promise<unknown>): void => {
    if (this.last === settled) this.last = undefined;
  };
}
