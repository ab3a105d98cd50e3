import { setTimeout as sleep } from 'node:timers/promises';

import type { OwnedProcess } from '../embedded/owned-process';
import { assertPortsFree, type PortRequest } from '../embedded/ports';
import { STOP_RANK } from '../embedded/process-owner';
import { StartError, throwIfInterrupted } from '../embedded/start-error';
import { superviseChild } from './supervise-child';
import type { UpRun } from './up-run';

export interface ChildrenOptions {
  /** Settled: the same at every restart. */
  readonly ports: { readonly nexus: PortRequest; readonly manager: PortRequest };
  /** Each child's own: what one is told is no matter of the others. */
  readonly env: Readonly<Record<ChildName, NodeJS.ProcessEnv>>;
}

export interface RunningChildren {
  /** As of now; a restart changes them. */
  pids(): Partial<Record<ChildName, number>>;
}

type ChildName = 'nexus' | 'worker' | 'manager';

const TITLES = { nexus: 'Nexus', worker: 'The worker', manager: 'Manager' } as const;
const NAMES = ['nexus', 'worker', 'manager'] as const;
const ANNOUNCE_TIMEOUT_MS = 90_000;
const POLL_MS = 50;

/** Resolves when those that announce themselves have done so. A child that keeps dying ends the run. */
export async function startChildren(run: UpRun, options: ChildrenOptions): Promise<RunningChildren> {
  const pids: Partial<Record<ChildName, number>> = {};
  const announced = new Set<ChildName>();
  const { children } = run.options;
  const wanted = NAMES.filter((name) => children[name] !== undefined);
  for (const name of wanted) keepRunning(name, run, options, pids, announced);
  for (const name of wanted)
    if (children[name]?.announcesReady === true) await untilAnnounced(name, announced, run);
  return { pids: () => ({ ...pids }) };
}

function keepRunning(
  name: ChildName,
  { folder, options, progress, ready, end }: UpRun,
  { env, ports }: ChildrenOptions,
  pids: Partial<Record<ChildName, number>>,
  announced: Set<ChildName>,
): void {
  const logFile = folder.logFile(name);
  const start = async (): Promise<OwnedProcess> => {
    if (name !== 'worker') await assertPortsFree([ports[name]]);
    return folder.processes.start({
      name,
      command: process.execPath,
      args: options.children[name]?.argv ?? [],
      env: env[name],
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
