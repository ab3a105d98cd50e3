import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { transformFileSync } from '@swc/core';

const ROOT = resolve(__dirname, '../..');
const EXAMPLES = join(ROOT, 'docs/receivers');
const CACHE = join(ROOT, '.cache');
const PYTHON_LIBRARY = 'standardwebhooks==1.1.0';
const PYTHON_LIBRARY_HASH = 'sha256:9a88d48a1f198be61517fc7ad328cf58ba02b73f0fbd8941d4213e9c0b6c2a61';

/** How to start an example receiver. */
export interface Example {
  readonly command: string;
  readonly args: readonly string[];
}

export interface RunningReceiver {
  readonly url: string;
  stop(): Promise<void>;
}

/** Transpiles the example to a place from which the repository's packages are found. */
export function typescriptExample(): Example {
  mkdirSync(CACHE, { recursive: true });
  const file = join(CACHE, 'example-receiver.js');
  const { code } = transformFileSync(join(EXAMPLES, 'typescript/receiver.ts'), {
    swcrc: false,
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
    module: { type: 'commonjs' },
  });
  writeFileSync(`${file}.${process.pid}`, code);
  renameSync(`${file}.${process.pid}`, file);
  return { command: process.execPath, args: [file] };
}

/** Installs the library once into a virtual environment, which appears by one rename. @returns a reason if it cannot. */
export function pythonExample(): Example | { readonly missing: string } {
  const environment = join(CACHE, 'receivers-venv');
  try {
    if (!existsSync(environment)) installPythonLibrary(environment);
  } catch (error) {
    // Another run may have been first.
    if (existsSync(environment)) return pythonExample();
    return { missing: error instanceof Error ? error.message : String(error) };
  }
  return { command: join(environment, 'bin/python'), args: [join(EXAMPLES, 'python/receiver.py')] };
}

function installPythonLibrary(environment: string): void {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'receivers-venv-'));
  const run = (command: string, args: string[]) =>
    execFileSync(command, args, { stdio: 'pipe', timeout: 50_000 });
  try {
    run('python3', ['-m', 'venv', folder]);
    const requirements = join(folder, 'requirements.txt');
    writeFileSync(requirements, `${PYTHON_LIBRARY} --hash=${PYTHON_LIBRARY_HASH}\n`);
    const quiet = ['-q', '--disable-pip-version-check', '--no-deps', '--require-hashes'];
    run(join(folder, 'bin/python'), ['-m', 'pip', 'install', ...quiet, '-r', requirements]);
    renameSync(folder, environment);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function startReceiver({ command, args }: Example, secret: string): Promise<RunningReceiver> {
  const child = spawn(command, args, {
    env: { PATH: process.env['PATH'], HOOK_SECRET: secret, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolveEnded) => child.once('close', () => resolveEnded()));
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => void (complaints += chunk.toString()));
  const url = await new Promise<string>((found, failed) => {
    createInterface(child.stdout).on('line', (line) => {
      if (line.startsWith('listening on ')) found(line.slice('listening on '.length));
    });
    child.once('error', failed);
    void ended.then(() => failed(new Error(`the receiver ended: ${complaints}`)));
  });
  return {
    url,
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}
