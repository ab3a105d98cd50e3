import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * A pid alone names nobody for long: the system gives it to another process after the first has died. Pid and birth together
 * name one process for good.
 */
export interface ProcessIdentity {
  readonly pid: number;
  readonly birth: string;
}

/** When the process began, as the system writes it; `undefined` when no such process lives (a zombie does not). */
export function birthOf(pid: number): string | undefined {
  return process.platform === 'linux' ? birthFromProc(pid) : birthFromPs(pid);
}

export function isAlive({ pid, birth }: ProcessIdentity): boolean {
  return birthOf(pid) === birth;
}

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, birth: birthOf(process.pid) ?? '' };
}

/** The name of the program may hold spaces and brackets, so fields are counted from the last bracket: state is the third of proc(5). */
function birthFromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}/${fields[19]}`;
  } catch {
    return undefined;
  }
}

function birthFromPs(pid: number): string | undefined {
  const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  });
  return stdout?.trim() || undefined;
}
