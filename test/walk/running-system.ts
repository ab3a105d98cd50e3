import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ROOT = resolve(__dirname, '../..');
export const PORTCULLIS = join(ROOT, 'bin/portcullis.js');

/** Starting fetches nothing here, but a busy machine is slow; stopping lets a worker finish what it has in hand. */
const START_MS = 90_000;
export const SYSTEM_TIMEOUT_MS = 150_000;

/** The workspace that events of Coder come from. */
export const WORKSPACE = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';

/** Settings of a run that meets no other one. */
export function environment(dataDir: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PORTCULLIS_DATA: dataDir,
    PORTCULLIS_SERVICES: join(ROOT, '.cache/services'),
    PORTCULLIS_PORT: '0',
    PORTCULLIS_MANAGER_PORT: '0',
    PORTCULLIS_DEMO_WORKSPACE: WORKSPACE,
    PORTCULLIS_TEMPORAL_PORT: '0',
    PORTCULLIS_TEMPORAL_UI_PORT: '0',
    PORTCULLIS_REDIS_PORT: '0',
  };
}

export function build(): void {
  execFileSync(process.execPath, [join(ROOT, 'scripts/build.mjs'), '--if-stale'], { stdio: 'ignore' });
}

/** `portcullis up`, as a user runs it in a folder. */
export class RunningSystem {
  private constructor(
    /** Holds `.portcullis`. */
    readonly folder: string,
    private up: ChildProcess,
    private exited: Promise<unknown>,
  ) {}

  static async start(): Promise<RunningSystem> {
    build();
    const folder = mkdtempSync(join(tmpdir(), 'portcullis-walk-'));
    const system = new RunningSystem(folder, ...launch(folder));
    await system.untilReady();
    return system;
  }

  /** Once more in the same folder, after it was interrupted. */
  async startAgain(): Promise<void> {
    [this.up, this.exited] = launch(this.folder);
    await this.untilReady();
  }

  private async untilReady(): Promise<void> {
    const ready = join(this.dataDir, 'ready.json');
    for (const deadline = Date.now() + START_MS; !existsSync(ready); await sleep(100)) {
      if (this.up.exitCode !== null || Date.now() > deadline) {
        await this.stop();
        throw new Error('portcullis up did not become ready');
      }
    }
  }

  get dataDir(): string {
    return join(this.folder, '.portcullis');
  }

  readJson(name: 'ready.json' | 'keys.json'): Record<string, string> {
    return JSON.parse(readFileSync(join(this.dataDir, name), 'utf8'));
  }

  /** Ctrl-C; the data stay. */
  async interrupt(): Promise<void> {
    this.up.kill('SIGINT');
    await this.exited;
  }

  async stop(): Promise<void> {
    this.up.kill('SIGTERM');
    await this.exited;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function launch(folder: string): [ChildProcess, Promise<unknown>] {
  const env = environment(join(folder, '.portcullis'));
  const up = spawn(process.execPath, [PORTCULLIS, 'up'], { cwd: folder, env, stdio: 'ignore' });
  return [up, new Promise((ended) => up.once('exit', ended))];
}
