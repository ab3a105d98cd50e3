/** Two ways to do the same work, measured in turns so that whatever else the machine does hits both. */
export interface Sides {
  readonly ours: () => Promise<unknown>;
  readonly bare: () => Promise<unknown>;
}

export interface Measured {
  /** Medians, in milliseconds. */
  readonly ours: number;
  readonly bare: number;
}

let end: AbortSignal = new AbortController().signal;

/** From then on no work is begun, so that what it uses can be stopped in order. */
export function endMeasuringOn(signal: AbortSignal): void {
  end = signal;
}

export async function inTurns({ ours, bare }: Sides, rounds: number): Promise<Measured> {
  const warmUp = Math.max(3, Math.ceil(rounds / 10));
  const times: { ours: number[]; bare: number[] } = { ours: [], bare: [] };
  for (let round = -warmUp; round < rounds; round += 1) {
    // Who goes first changes, so that neither is always the one after a pause.
    const order = round % 2 === 0 ? (['ours', 'bare'] as const) : (['bare', 'ours'] as const);
    for (const side of order) {
      await settled();
      const taken = await timed(side === 'ours' ? ours : bare);
      if (round >= 0) times[side].push(taken);
    }
  }
  return { ours: median(times.ours), bare: median(times.bare) };
}

/** What the piece of work before has left to do for worker and servers is over by then. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 40));
}

/** Pieces of work per second with so many callers at once; each side in blocks, in turns. */
export async function throughput(
  { ours, bare }: Sides,
  { callers, perBlock, blocks }: { callers: number; perBlock: number; blocks: number },
): Promise<Measured> {
  const rates: { ours: number[]; bare: number[] } = { ours: [], bare: [] };
  for (let block = -1; block < blocks; block += 1) {
    // As above: open workflows and caches of the block before are not always the same side's.
    for (const side of block % 2 === 0 ? (['bare', 'ours'] as const) : (['ours', 'bare'] as const)) {
      const ms = await timed(() => together(side === 'ours' ? ours : bare, callers, perBlock));
      if (block >= 0) rates[side].push((perBlock / ms) * 1_000);
    }
  }
  return { ours: median(rates.ours), bare: median(rates.bare) };
}

async function together(work: () => Promise<unknown>, callers: number, count: number): Promise<void> {
  let left = count;
  const call = async (): Promise<void> => {
    while (left > 0) {
      end.throwIfAborted();
      left -= 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  end.throwIfAborted();
  const began = performance.now();
  await work();
  return performance.now() - began;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
