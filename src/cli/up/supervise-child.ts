import { setTimeout as sleep } from 'node:timers/promises';

import { deathError } from '../embedded/await-answer';
import type { OwnedProcess } from '../embedded/owned-process';
import type { Progress } from '../embedded/progress';
import { StartError } from '../embedded/start-error';
import { RestartBudget } from './restart-budget';

export interface SupervisedChild {
  readonly title: string;
  readonly logFile: string;
  /** Called for the first start and for every restart. */
  start(): Promise<OwnedProcess>;
  onStarted(process: OwnedProcess): void;
}

/**
 * Keeps a child running until the signal aborts, and resolves then. Rejects with `StartError` when the child died too often or
 * cannot be started. Each death is shown with the child's last lines.
 */
export async function superviseChild(
  child: SupervisedChild,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const budget = new RestartBudget();
  while (!signal.aborted) {
    const process = await child.start();
    child.onStarted(process);
    await process.exited;
    if (signal.aborted) return;

    const death = await deathError(process, child.title, child.logFile);
    const verdict = budget.recordDeath(Date.now());
    if (verdict.kind === 'give-up')
      throw new StartError(
        'child_died',
        `${death.message}\n${child.title} keeps dying (5 times within a minute), so everything is stopped.`,
      );
    progress.line(`${death.message}\nStarting ${child.title} again in ${verdict.afterMs / 1000} s.`);
    await sleep(verdict.afterMs, undefined, { signal }).catch(() => undefined);
  }
}
