import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { SETUP_VARIABLE, type ProgramSetup } from './program-setup';

const REGISTER = join(__dirname, '../embedded/fixtures/register-typescript.cjs');

export interface ChildProgram {
  readonly pid: number;
  /** Of a Nexus. */
  readonly url: string;
  /** Resolves with the signal that ended it; null when it ended by itself. */
  readonly ended: Promise<NodeJS.Signals | null>;
  /** SIGKILL, now; resolves when it is gone. May be called again. */
  kill(): Promise<void>;
}

/** Starts one of the programs of this folder; resolves when it works. Its errors go to the test's own stderr. */
export async function startProgram(
  program: 'worker-program' | 'nexus-program',
  setup: ProgramSetup,
): Promise<ChildProgram> {
  const child = spawn(process.execPath, ['--require', REGISTER, join(__dirname, `${program}.ts`)], {
    env: { ...process.env, [SETUP_VARIABLE]: JSON.stringify(setup) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = new Promise<NodeJS.Signals | null>((resolve) =>
    child.once('exit', (_code, signal) => resolve(signal)),
  );
  const ready = new Promise<{ url?: string }>((resolve) =>
    child.once('message', (message) => resolve(message as { url?: string })),
  );
  const first = await Promise.race([ready, ended.then(() => undefined)]);
  if (first === undefined) throw new Error(`${program} ended before it worked`);
  return {
    pid: child.pid ?? 0,
    url: first.url ?? '',
    ended,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
