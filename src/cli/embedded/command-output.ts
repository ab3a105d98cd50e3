import { spawn } from 'node:child_process';

export interface CommandResult {
  /** `null` when a signal ended it or it could not be started. */
  readonly exitCode: number | null;
  /** stdout and stderr in the order they came. */
  readonly output: string;
}

export interface CommandOptions {
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a command to its end in a process group of its own: a terminal's Ctrl-C does not reach it, and abort or time-out
 * kill the whole group. Never rejects; what could not be started is an output without exit code.
 */
export function commandOutput(
  command: string,
  args: readonly string[],
  { env, timeoutMs, signal }: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let output = '';
    const collect = (chunk: Buffer): void => void (output += chunk.toString());
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);

    const kill = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        child.kill('SIGKILL');
      }
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(kill, timeoutMs);
    signal?.addEventListener('abort', kill, { once: true });
    if (signal?.aborted) kill();

    const finish = (exitCode: number | null): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', kill);
      resolve({ exitCode, output });
    };
    child.once('error', (error) => {
      output += error.message;
      finish(null);
    });
    child.once('close', finish);
  });
}
