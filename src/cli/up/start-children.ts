import { setTimeout as sleep } from 'node:timers/promises';

import type { OwnedProcess } from '../embedded/owned-process';
import { assertPortsFree, type PortRequest } from '../embedded/ports';
import { STOP_RANK } from '../embedded/process-owner';
import { StartError, throwIfInterrupted } from '../embedded/start-error';
import { superviseChild } from './supervise-child';
import type { UpRun } from './up-run';

export interface ChildrenOptions {
  /** Settled: the same at every restart. */
  readonly nexusPort: PortRequest;
  readonly env: NodeJS.ProcessEnv;
}

export interface RunningChildren {
  /** As of now; a restart changes them. */
  pids(): { nexus?: number; worker?: number };
}

type ChildName = 'nexus' | 'worker';

const TITLES = { nexus: 'Nexus', worker: 'The worker' } as const;
const ANNOUNCE_TIMEOUT_MS = 90_000;
const POLL_MS = 50;

/** Resolves when those that announce themselves have done so. A child that keeps dying ends the run. */
export async function startChildren(run: UpRun, options: ChildrenOptions): Promise<RunningChildren> {
  const pids: { nexus?: number; worker?: number } = {};
  const announced = new Set<ChildName>();
  for (const name of ['nexus', 'worker'] as const) keepRunning(name, run, options, pids, announced);

  const { children } = run.options;
  for (const name of ['nexus', 'worker'] as const)
    if (children[name].announcesReady) await untilAnnounced(name, announced, run);
  return { pids: () => ({ ...pids }) };
}

function keepRunning(
  name: ChildName,
  { folder, options, progress, ready, end }: UpRun,
  { env, nexusPort }: ChildrenOptions,
  pids: Partial<Record<ChildName, number>>,
  announced: Set<ChildName>,
): void {
  const logFile = folder.logFile(name);
  const start = async (): Promise<OwnedProcess> => {
    if (name === 'nexus') await assertPortsFree([nexusPort]);
    return folder.processes.start({
      name,
      command: process.execPath,
      args: options.children[name].argv,
      env,
      logFile,
      rank: STOP_RANK[name],
      ipc: true,
    });
  };
  const onStarted = (child: OwnedProcess): void => {
    pids[name] = child.pid;
    ready.updatePid(name, child.pid);
    child.onMessage((message) => message === 'ready' && announced.add(name));
  };
  superviseChild({ title: TITLES[name], logFile, start, onStarted }, progress, end.signal).catch(
    (error: unknown) => end.abort(error),
  );
}

async function untilAnnounced(
  name: ChildName,
  announced: ReadonlySet<ChildName>,
  { folder, end }: UpRun,
): Promise<void> {
  for (const deadline = Date.now() + ANNOUNCE_TIMEOUT_MS; Date.now() < deadline; await sleep(POLL_MS)) {
    throwIfInterrupted(end.signal);
    if (announced.has(name)) return;
  }
  throw new StartError(
    'child_silent',
    `${TITLES[name]} was not ready within ${ANNOUNCE_TIMEOUT_MS / 1000} s. Its log is ${folder.logFile(name)}.`,
  );
}
