import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { commandOutput } from './command-output';
import type { Progress } from './progress';
import { isExecutableFile } from './search-path';
import { StartError } from './start-error';

const CLI_VERSION = 'v1.9.1';
const TIMEOUT_MS = 180_000;

/**
 * The last resort: the Temporal SDK fetches the CLI from Temporal's own site when it starts a throw-away server. Unlike the wheel
 * its digest is not pinned. Runs in a process of its own because the SDK's native runtime takes over signals and cannot be aborted.
 */
export async function downloadTemporalWithSdk(options: {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  readonly signal?: AbortSignal | undefined;
}): Promise<string> {
  const { folder, env, progress, signal } = options;
  const earlier = downloadedExecutable(folder);
  if (earlier !== undefined) return earlier;

  progress.line(`Fetching the Temporal CLI ${CLI_VERSION} with the Temporal SDK (once) …`);
  mkdirSync(folder, { recursive: true });
  const program = `(${downloadProgram.toString()})(...process.argv.slice(1))`;
  const { exitCode, output } = await commandOutput(
    process.execPath,
    ['-e', program, require.resolve('@temporalio/worker'), folder, CLI_VERSION],
    { env, signal, timeoutMs: TIMEOUT_MS },
  );
  const executable = downloadedExecutable(folder);
  if (exitCode === 0 && executable !== undefined) return executable;
  const why =
    /failed to download[^:]*: ([^)]*\))/.exec(output)?.[1] ?? output.trim().split('\n').at(-1) ?? '';
  throw new StartError('install_failed', `the Temporal SDK could not fetch the CLI: ${why}`);
}

function downloadedExecutable(folder: string): string | undefined {
  try {
    return readdirSync(folder)
      .filter((name) => name.startsWith('temporal') && !name.includes('.downloading'))
      .map((name) => join(folder, name))
      .find(isExecutableFile);
  } catch {
    return undefined;
  }
}

/** Travels as text into the process that runs it, so it may use nothing from outside its body. */
async function downloadProgram(workerModule: string, downloadDir: string, version: string): Promise<void> {
  const { createRequire } = process.getBuiltinModule('node:module');
  const { Runtime } = createRequire(workerModule)(workerModule) as typeof import('@temporalio/worker');
  const runtime = Runtime.instance();
  const server = await runtime.createEphemeralServer({
    type: 'dev-server',
    exe: {
      type: 'cached-download',
      downloadDir,
      version,
      ttl: 0,
      sdkName: 'sdk-typescript',
      sdkVersion: '1.24.0',
    },
    namespace: 'default',
    ip: '127.0.0.1',
    port: null,
    uiPort: null,
    dbFilename: null,
    ui: false,
    log: { format: 'pretty', level: 'error' },
    extraArgs: [],
  });
  await runtime.shutdownEphemeralServer(server);
  await runtime.shutdown();
}
