import { setTimeout as sleep } from 'node:timers/promises';

import type { OwnedProcess } from './owned-process';
import { StartError, throwIfInterrupted } from './start-error';

export interface AwaitAnswerOptions {
  readonly title: string;
  readonly logFile: string;
  readonly timeoutMs: number;
  /** Resolves when the server answers; rejects when it does not yet. */
  readonly probe: () => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

const POLL_MS = 40;

/** Resolves when the server answers. Throws `StartError` `server_died` with the last lines of its log, or `server_silent`. */
export async function awaitAnswer(process: OwnedProcess, options: AwaitAnswerOptions): Promise<void> {
  const { title, logFile, timeoutMs, probe, signal } = options;
  const deadline = Date.now() + timeoutMs;
  let lastError: unknown;
  while (Date.now() < deadline) {
    throwIfInterrupted(signal);
    const answered = await probe().then(
      () => true,
      (error: unknown) => ((lastError = error), false),
    );
    if (process.hasExited()) throw await deathError(process, title, logFile);
    if (answered) return;
    await sleep(POLL_MS);
  }
  throw new StartError(
    'server_silent',
    `${title} runs but has not answered within ${timeoutMs / 1000} s (${describe(lastError)}). Its log is ${logFile}.`,
    { cause: lastError },
  );
}

export async function deathError(process: OwnedProcess, title: string, logFile: string): Promise<StartError> {
  const { code, signal } = await process.exited;
  const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
  const lines = process.lastLines().map((line) => `  ${line}\n`);
  return new StartError(
    'server_died',
    `${title} died (${how}). ${lines.length > 0 ? `It last said:\n${lines.join('')}` : 'It said nothing. '}Its log is ${logFile}.`,
  );
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
