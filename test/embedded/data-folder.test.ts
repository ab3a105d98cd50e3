import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { openDataFolder } from '../../src/cli/embedded/data-folder';
import { lockDataFolder } from '../../src/cli/embedded/data-lock';
import { refuseForData } from '../../src/cli/embedded/data-version';
import { birthOf } from '../../src/cli/embedded/process-identity';
import { SILENT } from '../../src/cli/embedded/progress';
import { NodeProcess } from './node-process';
import { isRunning } from './process-table';
import { eventuallyGone, Scratch } from './scratch';

const scratch = new Scratch();

afterAll(() => scratch.clear());

function sleeper(): { pid: number; end(): void } {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  return { pid: child.pid ?? 0, end: () => void child.kill('SIGKILL') };
}

function record(dataDir: string, pid: number, birth: string): void {
  writeFileSync(join(dataDir, 'processes.json'), JSON.stringify([{ name: 'redis', pid, birth }]));
}

function writeLock(dataDir: string, generation: number, owner: { pid: number; birth: string }): void {
  mkdirSync(join(dataDir, 'lock'), { recursive: true });
  writeFileSync(join(dataDir, 'lock', `${generation}.json`), JSON.stringify({ owner }));
}

describe('the lock of a data folder', () => {
  test('a second owner is refused while the first holds it, and comes in after it', () => {
    const dataDir = scratch.folder();
    const first = lockDataFolder(dataDir);
    expect(() => lockDataFolder(dataDir)).toThrow(new RegExp(`pid ${process.pid}.*PORTCULLIS_DATA`));
    first.release();
    lockDataFolder(dataDir).release();
  });

  test('the lock of a dead owner is taken over, also when its pid belongs to somebody else by now', () => {
    const dataDir = scratch.folder();
    writeLock(dataDir, 7, { pid: process.pid, birth: 'long ago' });
    lockDataFolder(dataDir).release();
  });

  test('of many starters that find a stale lock at the same moment exactly one becomes the owner', async () => {
    const dataDir = scratch.folder();
    writeLock(dataDir, 1, { pid: 999_999_999, birth: 'never' });
    const starters = Array.from({ length: 6 }, () => new NodeProcess('lock-process.ts', [dataDir]));
    await Promise.all(starters.map((starter) => starter.untilOutput(/waiting/)));
    for (const starter of starters) starter.write('go\n');
    await Promise.all(starters.map((starter) => starter.untilOutput(/owner|data_folder_in_use/)));
    expect(starters.filter(({ output }) => output.includes('owner'))).toHaveLength(1);
    for (const starter of starters) starter.endInput();
    await Promise.all(starters.map(({ exitCode }) => exitCode));
  });
});

describe('what an earlier run has left', () => {
  test('a foreign process on a recorded pid is not touched', async () => {
    const dataDir = scratch.folder();
    const foreign = sleeper();
    record(dataDir, foreign.pid, 'another birth');
    const folder = await openDataFolder(dataDir, SILENT);
    folder.close();
    expect(isRunning(foreign.pid)).toBe(true);
    foreign.end();
  });

  test('a recorded process that still runs is stopped before anything else, and named', async () => {
    const dataDir = scratch.folder();
    const leftover = sleeper();
    record(dataDir, leftover.pid, birthOf(leftover.pid) ?? '');
    const said: string[] = [];
    const folder = await openDataFolder(dataDir, {
      line: (text) => void said.push(text),
      status: () => undefined,
    });
    folder.close();
    await eventuallyGone([leftover.pid]);
    expect(said.join()).toContain(`redis (pid ${leftover.pid})`);
  });
});

describe('the version of a data folder', () => {
  test('a folder of a newer format is refused, unchanged and unlocked', async () => {
    const dataDir = scratch.folder();
    const version = '{"format":2}';
    writeFileSync(join(dataDir, 'version.json'), version);
    await expect(openDataFolder(dataDir, SILENT)).rejects.toMatchObject({
      code: 'data_folder_version',
      message: expect.stringMatching(/newer.*PORTCULLIS_DATA/) as string,
    });
    expect(readFileSync(join(dataDir, 'version.json'), 'utf8')).toBe(version);
    lockDataFolder(dataDir).release();
  });

  test.each([
    ['temporal 1.33.0', 'temporal 1.32.0', false],
    ['temporal 1.32.4', 'temporal 1.32.0', true],
    ['temporal 1.32.0', 'temporal 1.33.0', true],
    ['valkey 9.1.2', 'valkey 8.1.0', false],
    ['redis 7.2.1', 'valkey 9.1.2', true],
    ['redis 7.4.0', 'valkey 9.1.2', false],
    ['valkey 8.0.0', 'redis 8.0.0', false],
  ])('data of %s are read by %s: %s', (written, by, readable) => {
    const [product, version] = written.split(' ') as ['temporal' | 'valkey' | 'redis', string];
    const [byProduct, byVersion] = by.split(' ') as ['temporal' | 'valkey' | 'redis', string];
    const [major = 0, minor = 0, patch = 0] = byVersion.split('.').map(Number);
    const refusal = refuseForData(
      { product, version },
      { product: byProduct, path: '', version: [major, minor, patch] },
    );
    expect(refusal === undefined).toBe(readable);
  });
});
