import { CancellationScope, isCancellation } from '@temporalio/workflow';

/** Runs something that `stop` cancels; then `done` gives nothing. */
export function stoppable<Result>(run: () => Promise<Result>): {
  done: Promise<Result | undefined>;
  stop: () => void;
} {
  const scope = new CancellationScope({ cancellable: true });
  let stopped = false;
  const done = scope.run(run).catch((error: unknown) => {
    if (stopped && isCancellation(error)) return undefined;
    throw error;
  });
  const stop = (): void => {
    stopped = true;
    scope.cancel();
  };
  return { done, stop };
}
