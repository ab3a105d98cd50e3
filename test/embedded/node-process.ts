import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

import { eventually } from './scratch';

const REGISTER = join(__dirname, 'fixtures/register-typescript.cjs');

/** A fixture run as a process of its own, in a process group of its own, as a shell starts a command. */
export class NodeProcess {
  readonly #child: ChildProcess;
  readonly exitCode: Promise<number | null>;
  output = '';

  constructor(fixture: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
    this.#child = spawn(
      process.execPath,
      ['--require', REGISTER, join(__dirname, 'fixtures', fixture), ...args],
      {
        env,
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe'],
      },
    );
    this.#child.stdout?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.#child.stderr?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.exitCode = new Promise((resolve) => this.#child.once('close', resolve));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async untilOutput(pattern: RegExp): Promise<void> {
    await eventually(() => expect(this.output).toMatch(pattern));
  }

  write(text: string): void {
    this.#child.stdin?.write(text);
  }

  endInput(): void {
    this.#child.stdin?.end();
  }

  /** As the terminal does on Ctrl-C: to every process of the group. */
  signalGroup(signal: NodeJS.Signals): void {
    process.kill(-this.pid, signal);
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}
