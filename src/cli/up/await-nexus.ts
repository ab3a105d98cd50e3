import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { StartError, throwIfInterrupted } from '../embedded/start-error';

const TIMEOUT_MS = 90_000;
const POLL_MS = 100;
const PROBE_TIMEOUT_MS = 3_000;

/** Resolves when `/readyz` answers 200. Throws `StartError`: `child_silent`, or why the run ends meanwhile. */
export async function awaitNexus(nexusUrl: string, logFile: string, signal: AbortSignal): Promise<void> {
  const url = `${nexusUrl}/readyz`;
  let last = 'no answer';
  for (const deadline = Date.now() + TIMEOUT_MS; Date.now() < deadline; await sleep(POLL_MS)) {
    throwIfInterrupted(signal);
    const status = await statusOf(url);
    throwIfInterrupted(signal);
    if (status === 200) return;
    if (status !== undefined) last = `status ${status}`;
  }
  throw new StartError(
    'child_silent',
    `Nexus was not ready within ${TIMEOUT_MS / 1000} s (${url}: ${last}). Its log is ${logFile}.`,
  );
}

function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const request = get(url, { timeout: PROBE_TIMEOUT_MS, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(undefined));
  });
}
