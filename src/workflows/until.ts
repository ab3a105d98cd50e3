import { CancellationScope, condition, sleep } from '@temporalio/workflow';

/**
 * Waits until `holds()`, but no longer than `ms`. The timer carries a summary that the Temporal UI shows, which
 * `condition(fn, ms)` cannot give it.
 */
export async function until(
  holds: () => boolean,
  { ms, summary }: { ms: number; summary: string },
): Promise<void> {
  if (holds() || ms <= 0) return;
  const scope = new CancellationScope({ cancellable: true });
  await scope.run(async () => {
    await Promise.race([sleep(ms, { summary }), condition(holds)]);
    scope.cancel();
  });
}
