import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { ReadyState } from '../../src/cli/up/ready-file';
import { NodeProcess } from './node-process';
import { guardsOf, isRunning, pidsOfFolder } from './process-table';
import { eventually, eventuallyGone, FETCH_TIMEOUT_MS, fetchServers, Scratch, SERVICES_DIR } from './scratch';

const scratch = new Scratch();
const started: NodeProcess[] = [];

interface Up {
  readonly dataDir: string;
  readonly process: NodeProcess;
}

function up(dataDir = scratch.folder(), flags: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Up {
  const process_ = new NodeProcess('up-process.ts', flags, {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    PORTCULLIS_DATA: dataDir,
    PORTCULLIS_SERVICES: SERVICES_DIR,
    PORTCULLIS_PORT: '0',
    PORTCULLIS_MANAGER_PORT: '0',
    PORTCULLIS_TEMPORAL_PORT: '0',
    PORTCULLIS_TEMPORAL_UI_PORT: '0',
    PORTCULLIS_REDIS_PORT: '0',
    ...env,
  });
  started.push(process_);
  return { dataDir, process: process_ };
}

function readReady(dataDir: string): ReadyState {
  return JSON.parse(readFileSync(join(dataDir, 'ready.json'), 'utf8')) as ReadyState;
}

function untilReady({ dataDir, process: { pid } }: Up): Promise<ReadyState> {
  return eventually(() => {
    const ready = readReady(dataDir);
    expect(ready.pids.up).toBe(pid);
    return ready;
  }, 30_000);
}

function trace(dataDir: string): string[] {
  return readFileSync(join(dataDir, 'trace.txt'), 'utf8').trim().split('\n');
}

function pidsOf({ pids }: ReadyState): number[] {
  return Object.values(pids);
}

beforeAll(fetchServers, FETCH_TIMEOUT_MS);

afterAll(() => {
  for (const process of started) if (isRunning(process.pid)) process.kill('SIGKILL');
  scratch.clear();
});

describe('portcullis up', () => {
  test('ready.json tells what runs and where, only to the owner, and is gone after Ctrl-C like everything else', async () => {
    const run = up();
    const ready = await untilReady(run);
    expect(Object.keys(ready.pids).sort()).toEqual(['nexus', 'redis', 'temporal', 'up', 'worker']);
    expect(pidsOf(ready).every(isRunning)).toBe(true);
    expect(statSync(join(run.dataDir, 'ready.json')).mode & 0o777).toBe(0o600);

    const environment = (await (await fetch(`${ready.nexus}/env`)).json()) as Record<string, string>;
    expect(environment).toMatchObject({
      TEMPORAL_ADDRESS: ready.temporalAddress,
      TEMPORAL_NAMESPACE: ready.temporalNamespace,
      PORTCULLIS_TENANTS: `local=${ready.redisUrl}`,
      PORTCULLIS_PORT: new URL(ready.nexus).port,
      PORTCULLIS_MODE: 'development',
    });
    expect((await fetch(ready.temporalUi ?? '')).status).toBe(200);
    const keys = readFileSync(join(run.dataDir, 'keys.json'), 'utf8');
    expect(JSON.parse(keys)).toEqual({ tenants: `local=${ready.redisUrl}` });

    run.process.signalGroup('SIGINT');
    await sleep(200);
    run.process.signalGroup('SIGINT');
    await expect(run.process.exitCode).resolves.toBe(0);
    expect(pidsOf(ready).filter(isRunning)).toEqual([]);
    expect(pidsOfFolder(run.dataDir)).toEqual([]);
    expect(existsSync(join(run.dataDir, 'ready.json'))).toBe(false);
    expect(trace(run.dataDir)).toEqual(['nexus stops while Temporal runs', 'worker stops']);

    expect(run.process.output).toContain(ready.nexus);
    expect(run.process.output).toContain(join(run.dataDir, 'keys.json'));
    expect(run.process.output).not.toContain(new URL(ready.redisUrl).password);
  });

  test('a second Ctrl-C ends at once what does not want to end', async () => {
    const run = up(undefined, ['--stubborn']);
    const ready = await untilReady(run);
    run.process.signalGroup('SIGINT');
    await sleep(1_200);
    expect(isRunning(ready.pids.nexus ?? 0)).toBe(true);
    run.process.signalGroup('SIGINT');
    await expect(run.process.exitCode).resolves.toBe(130);
    expect(pidsOf(ready).filter(isRunning)).toEqual([]);
  });

  test.each(['SIGTERM', 'SIGHUP'] as const)(
    '%s while it is starting leaves nothing running',
    async (signal) => {
      const run = up();
      await eventually(() => expect(existsSync(join(run.dataDir, 'processes.json'))).toBe(true));
      run.process.kill(signal);
      await expect(run.process.exitCode).resolves.toBe(0);
      expect(pidsOfFolder(run.dataDir)).toEqual([]);
      expect(existsSync(join(run.dataDir, 'ready.json'))).toBe(false);
    },
  );

  test('a port of Nexus that is taken is told before any server is started', async () => {
    const occupant = createServer().listen(0, '127.0.0.1');
    await once(occupant, 'listening');
    const { port } = occupant.address() as AddressInfo;
    const run = up(undefined, [], { PORTCULLIS_PORT: String(port) });
    await expect(run.process.exitCode).resolves.toBe(1);
    expect(run.process.output).toMatch(new RegExp(`Port ${port} for Nexus .*PORTCULLIS_PORT`));
    expect(existsSync(join(run.dataDir, 'logs/redis.log'))).toBe(false);
    occupant.close();
  });

  test('kill -9 leaves nothing running after a few seconds, and the next start works', async () => {
    const run = up();
    const ready = await untilReady(run);
    run.process.kill('SIGKILL');
    await eventuallyGone(pidsOf(ready), 8_000);

    const next = up(run.dataDir);
    const readyAgain = await untilReady(next);
    expect(new URL(readyAgain.redisUrl).password).toBe(new URL(ready.redisUrl).password);
    next.process.kill('SIGTERM');
    await expect(next.process.exitCode).resolves.toBe(0);
  });

  test('servers left by a run that was killed together with its guard are stopped by the next one', async () => {
    const run = up();
    const { pids } = await untilReady(run);
    const guards = guardsOf(run.process.pid);
    expect(guards).toHaveLength(1);
    for (const pid of [...guards, run.process.pid]) process.kill(pid, 'SIGKILL');
    await eventuallyGone([run.process.pid]);
    expect([pids.temporal ?? 0, pids.redis ?? 0].every(isRunning)).toBe(true);

    const next = up(run.dataDir);
    await untilReady(next);
    expect([pids.temporal ?? 0, pids.redis ?? 0].filter(isRunning)).toEqual([]);
    expect(next.process.output).toContain(`Stopped temporal (pid ${pids.temporal})`);
    next.process.kill('SIGTERM');
    await next.process.exitCode;
  });

  test('a child that dies is shown and restarted on the same port, and a second run on the folder is refused meanwhile', async () => {
    const run = up();
    const ready = await untilReady(run);
    await fetch(`${ready.nexus}/die`).catch(() => undefined);
    await eventually(async () => {
      expect((await fetch(`${ready.nexus}/readyz`)).status).toBe(200);
      expect(readReady(run.dataDir).pids.nexus).not.toBe(ready.pids.nexus);
    });
    expect(run.process.output).toMatch(/Nexus died \(exit code 3\)[^]*nexus: told to die[^]*again in 0\.2 s/);

    const second = up(run.dataDir);
    await expect(second.process.exitCode).resolves.toBe(1);
    expect(second.process.output).toContain(`pid ${run.process.pid}`);
    expect((await fetch(`${ready.nexus}/readyz`)).status).toBe(200);
    expect(readReady(run.dataDir).pids.worker).toBe(ready.pids.worker);

    run.process.kill('SIGTERM');
    await expect(run.process.exitCode).resolves.toBe(0);
  });

  test('a child that cannot live is given up after five deaths, and everything is stopped', async () => {
    const run = up(undefined, ['--', '--broken']);
    await expect(run.process.exitCode).resolves.toBe(1);
    expect(run.process.output.match(/The worker died \(exit code 4\)/g)).toHaveLength(5);
    expect(run.process.output).toMatch(/worker: no bundle[^]*The worker keeps dying/);
    expect(pidsOfFolder(run.dataDir)).toEqual([]);
    expect(existsSync(join(run.dataDir, 'ready.json'))).toBe(false);
  });

  test.each(['temporal', 'redis'] as const)(
    'when %s dies it is named, and everything else is stopped',
    async (server) => {
      const run = up();
      const ready = await untilReady(run);
      process.kill(ready.pids[server] ?? 0, 'SIGKILL');
      await expect(run.process.exitCode).resolves.toBe(1);
      expect(run.process.output).toMatch(new RegExp(`${server} died \\(signal SIGKILL\\)`, 'i'));
      expect(pidsOf(ready).filter(isRunning)).toEqual([]);
    },
  );

  test('services of one’s own are used and left alone', async () => {
    const own = up();
    const ready = await untilReady(own);
    const run = up(undefined, [], {
      TEMPORAL_ADDRESS: ready.temporalAddress,
      TEMPORAL_CONFIG_FILE: '/nowhere/temporal.toml',
      PORTCULLIS_TENANTS: `acme=${ready.redisUrl}`,
    });
    const external = await untilReady(run);
    expect(Object.keys(external.pids).sort()).toEqual(['nexus', 'up', 'worker']);
    expect(external).toMatchObject({ temporalAddress: ready.temporalAddress, redisUrl: ready.redisUrl });
    run.process.kill('SIGTERM');
    await expect(run.process.exitCode).resolves.toBe(0);
    expect(pidsOf(ready).every(isRunning)).toBe(true);
    own.process.kill('SIGTERM');
    await own.process.exitCode;
  });
});
