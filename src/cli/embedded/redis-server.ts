import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { createClient } from 'redis';

import { writeFileAtomically } from './atomic-file';
import { awaitAnswer } from './await-answer';
import { markServer } from './data-version';
import type { LocatedServer } from './locate-server';
import type { OwnedProcess } from './owned-process';
import { STOP_RANK } from './process-owner';
import { serverEnvironment, type ServiceContext } from './service-context';

/**
 * When a write is on the disk. `always`: before it is answered. `everysec`: within a second, so a power failure or a crash of the
 * operating system may lose the writes of up to the last two seconds that were already answered (decisions, votes, audit events); a
 * crash of the server alone loses nothing.
 */
export type AppendFsync = 'always' | 'everysec';

export interface RunningRedis {
  /** Holds the password. */
  readonly url: string;
  readonly process: OwnedProcess;
}

const LOOPBACK = '127.0.0.1';
/** Reading back a large append-only file takes its time, and the server answers no PING until then. */
const ANSWER_TIMEOUT_MS = 120_000;
const PROBE_TIMEOUT_MS = 2_000;

export async function startRedis(
  server: LocatedServer,
  port: number,
  appendFsync: AppendFsync,
  { folder, env, signal }: ServiceContext,
): Promise<RunningRedis> {
  const logFile = folder.logFile('redis');
  const dir = join(folder.path, 'redis');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const password = keptPassword(join(dir, 'password'));
  const config = join(dir, 'server.conf');
  writeFileAtomically(config, configuration({ dir, port, appendFsync, password }));
  markServer(folder.path, 'redis', server);

  const process = await folder.processes.start({
    name: 'redis',
    command: server.path,
    args: [config],
    env: serverEnvironment(env),
    logFile,
    rank: STOP_RANK.redis,
  });
  const url = `redis://:${password}@${LOOPBACK}:${port}`;
  const title = server.product === 'valkey' ? 'Valkey' : 'Redis';
  await awaitAnswer(process, {
    title,
    logFile,
    timeoutMs: ANSWER_TIMEOUT_MS,
    probe: () => ping(url),
    signal,
  });
  return { url, process };
}

/** The same at every start, so that clients outlive a restart; in a file, because `ps` shows command lines to everybody. */
function keptPassword(path: string): string {
  try {
    const kept = readFileSync(path, 'utf8').trim();
    if (kept !== '') return kept;
  } catch {
    // The first start.
  }
  const password = randomBytes(32).toString('hex');
  writeFileAtomically(path, password);
  return password;
}

function configuration(values: {
  readonly dir: string;
  readonly port: number;
  readonly appendFsync: AppendFsync;
  readonly password: string;
}): string {
  return [
    `bind ${LOOPBACK}`,
    `port ${values.port}`,
    'protected-mode yes',
    `requirepass ${values.password}`,
    `dir ${JSON.stringify(values.dir)}`,
    'appendonly yes',
    `appendfsync ${values.appendFsync}`,
    'save ""',
    'maxmemory-policy noeviction',
    'daemonize no',
    '',
  ].join('\n');
}

async function ping(url: string): Promise<void> {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    socket: { reconnectStrategy: false, connectTimeout: PROBE_TIMEOUT_MS },
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.ping();
  } finally {
    client.destroy();
  }
}
