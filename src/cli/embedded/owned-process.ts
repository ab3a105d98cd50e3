import { spawn, type ChildProcess, type Serializable } from 'node:child_process';
import { closeSync, fstatSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Guard } from './guard';
import { lastLines, openLog } from './log-file';
import { birthOf } from './process-identity';
import type { ProcessRecords } from './process-records';
import { StartError } from './start-error';

export interface ProcessSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly logFile: string;
  /** Place in the stopping order; lower is earlier. */
  readonly rank: number;
  /** Gives a Node child an IPC channel, whose end tells it that its parent is gone. */
  readonly ipc?: boolean;
}

interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface OwnedProcess {
  readonly name: string;
  readonly pid: number;
  readonly exited: Promise<ProcessExit>;
  hasExited(): boolean;
  onMessage(listener: (message: Serializable) => void): void;
  /** The last lines it wrote, not those of an earlier run in the same file. */
  lastLines(): string[];
  /** SIGTERM, and SIGKILL to its whole group after `graceMs`. Resolves when it is gone; may be called again. */
  stop(graceMs: number): Promise<void>;
  /** SIGKILL to its whole group, now. */
  kill(): void;
}

const SHOWN_LINES = 15;

/**
 * Starts a process of which the guard and the records know; it gets a group of its own, so Ctrl-C in the terminal does not reach it.
 * Returns at once, so that there is no moment at which it runs and its owner does not know; a promise tells why it could not start.
 */
export function startOwnedProcess(
  spec: ProcessSpec,
  owner: { readonly guard: Guard; readonly records: ProcessRecords },
): OwnedProcess | Promise<StartError> {
  const log = openLog(spec.logFile);
  const logStart = fstatSync(log).size;
  const child = spawn(spec.command, spec.args, {
    env: spec.env,
    detached: true,
    stdio: spec.ipc ? ['ignore', log, log, 'ipc'] : ['ignore', log, log],
  });
  closeSync(log);
  const { pid } = child;
  if (pid === undefined) return startFailure(child, spec);

  owner.guard.watch(pid, spec.rank);
  const exited = new Promise<ProcessExit>((resolve) =>
    child.once('exit', (code, signal) => {
      owner.guard.forget(pid);
      owner.records.remove(pid);
      signalGroup(pid, 'SIGKILL');
      resolve({ code, signal });
    }),
  );
  child.on('error', () => undefined);
  const birth = birthOf(pid);
  if (birth !== undefined) owner.records.add({ name: spec.name, pid, birth });

  const hasExited = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const kill = (): void => {
    if (!hasExited()) signalGroup(pid, 'SIGKILL');
  };
  return {
    name: spec.name,
    pid,
    exited,
    hasExited,
    onMessage: (listener) => void child.on('message', listener),
    lastLines: () => lastLines(spec.logFile, logStart, SHOWN_LINES),
    kill,
    async stop(graceMs) {
      if (hasExited()) return;
      child.kill('SIGTERM');
      await Promise.race([exited, sleep(graceMs, undefined, { ref: false })]);
      kill();
      await exited;
    },
  };
}

function startFailure(child: ChildProcess, { name, command }: ProcessSpec): Promise<StartError> {
  return new Promise((resolve) =>
    child.once('error', (cause) =>
      resolve(
        new StartError('server_died', `${name} could not be started (${command}): ${cause.message}`, {
          cause,
        }),
      ),
    ),
  );
}

/** What a process leaves in its group (a server's forked child) must not outlive it. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is empty.
  }
}
