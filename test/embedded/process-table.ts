import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { birthOf } from '../../src/cli/embedded/process-identity';

interface Row {
  readonly pid: number;
  readonly parent: number;
  readonly commandLine: string;
}

export function isRunning(pid: number): boolean {
  return birthOf(pid) !== undefined;
}

/** Pids of the running processes whose command line has the text in it. */
export function pidsNaming(text: string): number[] {
  return rows()
    .filter(({ commandLine }) => commandLine.includes(text))
    .map(({ pid }) => pid);
}

/** The guard of a process that has started servers. */
export function guardsOf(owner: number): number[] {
  return rows()
    .filter(({ parent, commandLine }) => parent === owner && commandLine.includes('guardProgram'))
    .map(({ pid }) => pid);
}

/** What runs for a data folder: it has named the folder on its command line, or is recorded there. */
export function pidsOfFolder(dataDir: string): number[] {
  return [...new Set([...pidsNaming(dataDir), ...recordedPids(dataDir)])].filter(isRunning);
}

function recordedPids(dataDir: string): number[] {
  try {
    const records = JSON.parse(readFileSync(join(dataDir, 'processes.json'), 'utf8')) as { pid: number }[];
    return records.map(({ pid }) => pid);
  } catch {
    return [];
  }
}

function rows(): Row[] {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, state, commandLine] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (state === undefined || state.startsWith('Z')) return [];
    return [{ pid: Number(pid), parent: Number(parent), commandLine: commandLine ?? '' }];
  });
}
