import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { Connection } from '@temporalio/client';

import { closable } from '../service/temporal-connection';
import { awaitAnswer } from './await-answer';
import { markServer } from './data-version';
import type { LocatedServer } from './locate-server';
import type { OwnedProcess } from './owned-process';
import { STOP_RANK } from './process-owner';
import { ensureSearchAttributes, searchAttributeFlags, type SearchAttribute } from './search-attributes';
import { serverEnvironment, type ServiceContext } from './service-context';

export type DynamicConfig = Readonly<Record<string, string | number | boolean>>;

export interface TemporalServerOptions {
  readonly searchAttributes: readonly SearchAttribute[];
  /** Added to the values every embedded server gets, and wins over them. */
  readonly dynamicConfig: DynamicConfig;
}

export interface RunningTemporal {
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl: string;
  readonly process: OwnedProcess;
}

const NAMESPACE = 'default';
const LOOPBACK = '127.0.0.1';
const ANSWER_TIMEOUT_MS = 60_000;
const PROBE_TIMEOUT_MS = 2_000;

/**
 * The poll rates default to 20 a second for a whole shard, which makes each dispatch wait up to 50 ms; one partition is enough for
 * one machine and saves the forwarding between four.
 */
const DYNAMIC_CONFIG: DynamicConfig = {
  'history.transferProcessorMaxPollRPS': 1000,
  'history.timerProcessorMaxPollRPS': 1000,
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
};

/** Without the write-ahead log every commit waits for the one before it; with `FULL` a commit survives a power failure. */
const SQLITE_PRAGMAS = ['journal_mode=WAL', 'synchronous=FULL'];

export async function startTemporal(
  server: LocatedServer,
  ports: { readonly temporal: number; readonly temporalUi: number },
  options: TemporalServerOptions,
  { folder, env, signal }: ServiceContext,
): Promise<RunningTemporal> {
  const logFile = folder.logFile('temporal');
  const databaseDir = join(folder.path, 'temporal');
  mkdirSync(databaseDir, { recursive: true, mode: 0o700 });
  markServer(folder.path, 'temporal', server);

  const process = await folder.processes.start({
    name: 'temporal',
    command: server.path,
    args: startDevArguments(ports, join(databaseDir, 'temporal.db'), options),
    env: serverEnvironment(env),
    logFile,
    rank: STOP_RANK.temporal,
  });
  const address = `${LOOPBACK}:${ports.temporal}`;
  await untilServing(process, address, options.searchAttributes, logFile, signal);
  return { address, namespace: NAMESPACE, uiUrl: `http://${LOOPBACK}:${ports.temporalUi}`, process };
}

function startDevArguments(
  ports: { readonly temporal: number; readonly temporalUi: number },
  database: string,
  { dynamicConfig, searchAttributes }: TemporalServerOptions,
): string[] {
  const dynamicValues = Object.entries({ ...DYNAMIC_CONFIG, ...dynamicConfig });
  return [
    ...['server', 'start-dev', '--ip', LOOPBACK],
    ...['--port', String(ports.temporal), '--ui-port', String(ports.temporalUi), '--ui-disable-news-fetch'],
    ...['--db-filename', database],
    ...['--log-level', 'warn', '--color', 'never', '--disable-config-file', '--disable-config-env'],
    ...SQLITE_PRAGMAS.flatMap((pragma) => ['--sqlite-pragma', pragma]),
    ...dynamicValues.flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${JSON.stringify(value)}`]),
    ...searchAttributeFlags(searchAttributes),
  ];
}

async function untilServing(
  process: OwnedProcess,
  address: string,
  searchAttributes: readonly SearchAttribute[],
  logFile: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const connection = Connection.lazy(
    closable({
      address,
      channelArgs: { 'grpc.initial_reconnect_backoff_ms': 50, 'grpc.max_reconnect_backoff_ms': 200 },
    }),
  );
  const probe = (): Promise<void> =>
    connection.withDeadline(Date.now() + PROBE_TIMEOUT_MS, async () => {
      await connection.healthService.check({ service: 'temporal.api.workflowservice.v1.WorkflowService' });
      await connection.workflowService.describeNamespace({ namespace: NAMESPACE });
    });
  try {
    await awaitAnswer(process, { title: 'Temporal', logFile, timeoutMs: ANSWER_TIMEOUT_MS, probe, signal });
    await ensureSearchAttributes(connection, NAMESPACE, searchAttributes);
  } finally {
    await connection.close();
  }
}
