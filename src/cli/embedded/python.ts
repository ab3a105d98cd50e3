import { join } from 'node:path';

import { commandOutput } from './command-output';
import { executablesOnPath } from './search-path';

const PYTHON_COMMANDS = ['python3', 'python'];
const PROBE_TIMEOUT_MS = 20_000;

/** pip as a command: `[...command, 'install', …]`. */
type PipCommand = readonly [python: string, ...args: string[]];

export interface PipSearchOptions {
  readonly env: NodeJS.ProcessEnv;
  /** A folder that may be filled with a virtual environment; the caller removes it. */
  readonly venvFolder: string;
  readonly signal?: AbortSignal | undefined;
}

export type PipSearchResult =
  | { readonly kind: 'found'; readonly pip: PipCommand }
  | { readonly kind: 'no-python' }
  | { readonly kind: 'no-pip'; readonly python: string; readonly why: string };

/**
 * pip of a fresh virtual environment, which no setting of the machine's own Python can spoil; else the machine's pip, because
 * Debian and Ubuntu ship a Python whose `venv` fails until the package `python3-venv` is there.
 */
export async function findPip({ env, venvFolder, signal }: PipSearchOptions): Promise<PipSearchResult> {
  const python = await findPython(env, signal);
  if (python === undefined) return { kind: 'no-python' };

  const venv = await commandOutput(python, ['-m', 'venv', venvFolder], { env, signal });
  const venvPython = join(venvFolder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
  if (venv.exitCode === 0 && (await hasPip(venvPython, env, signal)))
    return { kind: 'found', pip: [venvPython, '-m', 'pip'] };
  if (await hasPip(python, env, signal)) return { kind: 'found', pip: [python, '-m', 'pip'] };
  return { kind: 'no-pip', python, why: venv.output.trim() };
}

async function findPython(
  env: NodeJS.ProcessEnv,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  for (const candidate of PYTHON_COMMANDS.flatMap((name) => executablesOnPath(name, env))) {
    const { output } = await commandOutput(candidate, ['--version'], {
      env,
      signal,
      timeoutMs: PROBE_TIMEOUT_MS,
    });
    if (/^Python 3\./m.test(output)) return candidate;
  }
  return undefined;
}

async function hasPip(python: string, env: NodeJS.ProcessEnv, signal?: AbortSignal): Promise<boolean> {
  const probe = await commandOutput(python, ['-m', 'pip', '--version'], {
    env,
    signal,
    timeoutMs: PROBE_TIMEOUT_MS,
  });
  return probe.exitCode === 0;
}
