import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';

import { Client, Connection } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { createClient } from 'redis';

import { closable } from '../../src/cli/service/temporal-connection';
import { startOnPorts } from '../../src/cli/embedded/port-race';
import { StartError } from '../../src/cli/embedded/start-error';
import { startServices, type StartServicesOptions } from '../../src/cli/embedded/start-services';
import { NodeProcess } from './node-process';
import { guardsOf, isRunning, pidsNaming, pidsOfFolder } from './process-table';
import { eventually, eventuallyGone, FETCH_TIMEOUT_MS, fetchServers, Scratch, SERVICES_DIR } from './scratch';

const scratch = new Scratch();
const PC_OLD = defineSearchAttributeKey('PcOld', SearchAttributeType.KEYWORD);
const PC_NEW = defineSearchAttributeKey('PcNew', SearchAttributeType.KEYWORD);

beforeAll(fetchServers, FETCH_TIMEOUT_MS);

afterAll(() => scratch.clear());

function options(dataDir: string): StartServicesOptions {
  return { dataDir, servicesDir: SERVICES_DIR };
}

function portOf(url: string): number {
  return Number(new URL(url.includes('://') ? url : `tcp://${url}`).port);
}

function listen(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => resolve(server));
  });
}

function portListenedOn(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

type RedisClient = ReturnType<typeof redisClient>;

function redisClient(url: string) {
  return createClient({ url });
}

async function withRedis<T>(url: string, use: (client: RedisClient) => Promise<T>): Promise<T> {
  const client = redisClient(url);
  await client.connect();
  try {
    return await use(client);
  } finally {
    client.destroy();
  }
}

async function withTemporal<T>(address: string, use: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect(closable({ address }));
  try {
    return await use(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

describe('the embedded services', () => {
  test('data survive a restart on the same ports with the same password, and new search attributes are added', async () => {
    const dataDir = scratch.folder();
    const first = await startServices({
      ...options(dataDir),
      searchAttributes: [{ name: 'PcOld', type: 'Keyword' }],
    });
    await withRedis(first.redis.url, (redis) => redis.set('kept', 'yes'));
    await withTemporal(first.temporal.address, (client) =>
      client.workflow.start('parked', {
        taskQueue: 'nobody',
        workflowId: 'kept',
        typedSearchAttributes: [{ key: PC_OLD, value: 'a' }],
      }),
    );
    await first.stop();
    expect([first.temporal.pid, first.redis.pid].filter(isRunning)).toEqual([]);

    const second = await startServices({
      ...options(dataDir),
      ports: {
        temporal: portOf(first.temporal.address),
        temporalUi: portOf(first.temporal.uiUrl),
        redis: portOf(first.redis.url),
      },
      searchAttributes: [
        { name: 'PcOld', type: 'Keyword' },
        { name: 'PcNew', type: 'Keyword' },
      ],
    });
    try {
      expect(second.redis.url).toBe(first.redis.url);
      expect(second.temporal.address).toBe(first.temporal.address);
      await expect(withRedis(second.redis.url, (redis) => redis.get('kept'))).resolves.toBe('yes');
      await withTemporal(second.temporal.address, async (client) => {
        await expect(client.workflow.getHandle('kept').describe()).resolves.toMatchObject({
          status: { name: 'RUNNING' },
        });
        await client.workflow.start('parked', {
          taskQueue: 'nobody',
          workflowId: 'new',
          typedSearchAttributes: [
            { key: PC_OLD, value: 'a' },
            { key: PC_NEW, value: 'b' },
          ],
        });
      });
    } finally {
      await second.stop();
    }
  });

  test('every write is durable, memory is never freed by evicting, and the password is only in files of the owner', async () => {
    const dataDir = scratch.folder();
    const services = await startServices(options(dataDir));
    try {
      const settings = await withRedis(services.redis.url, (redis) =>
        redis.configGet(['appendonly', 'appendfsync', 'maxmemory-policy', 'bind']),
      );
      expect(settings).toEqual({
        appendonly: 'yes',
        appendfsync: 'always',
        'maxmemory-policy': 'noeviction',
        bind: '127.0.0.1',
      });
      const { password } = new URL(services.redis.url);
      expect(password).toHaveLength(64);
      expect(pidsNaming(password)).toEqual([]);
      for (const file of ['redis/password', 'redis/server.conf'])
        expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600);
      await expect(
        withRedis(`redis://127.0.0.1:${portOf(services.redis.url)}`, (redis) => redis.ping()),
      ).rejects.toThrow(/NOAUTH|authentication/i);
    } finally {
      await services.stop();
    }
  });

  test('a port that is taken is named with the setting that changes it, and nothing is left running', async () => {
    const dataDir = scratch.folder();
    const occupant = await listen();
    const port = portListenedOn(occupant);
    await expect(startServices({ ...options(dataDir), ports: { temporalUi: port } })).rejects.toMatchObject({
      code: 'port_taken',
      message: expect.stringMatching(new RegExp(`Port ${port} .*PORTCULLIS_TEMPORAL_UI_PORT`)) as string,
    });
    expect(pidsOfFolder(dataDir)).toEqual([]);
    occupant.close();
  });

  test('a port that is lost between the check and the start is named too', async () => {
    const free = await listen();
    const port = portListenedOn(free);
    await new Promise((closed) => free.close(closed));
    let occupant: Server | undefined;
    const start = startOnPorts(
      { redis: { use: 'Redis', setting: 'PORTCULLIS_REDIS_PORT', port } },
      async () => {
        occupant = createServer().listen(port, '127.0.0.1');
        await new Promise((listening) => occupant?.once('listening', listening));
        throw new StartError('server_died', 'bind: address already in use');
      },
    );
    await expect(start).rejects.toMatchObject({ code: 'port_taken' });
    occupant?.close();
  });

  test('a server that dies at the start is shown with its last lines, and nothing is left running', async () => {
    const dataDir = scratch.folder();
    const temporalBinary = join(scratch.folder(), 'temporal');
    const script =
      'if [ "$1" = --version ]; then echo "temporal version 1.9.1 (Server 1.32.0)"; else echo "disk on fire"; exit 7; fi';
    writeFileSync(temporalBinary, `#!/bin/sh\n${script}\n`);
    chmodSync(temporalBinary, 0o755);
    await expect(startServices({ ...options(dataDir), temporalBinary })).rejects.toMatchObject({
      code: 'server_died',
      message: expect.stringMatching(
        /Temporal died \(exit code 7\)[^]*disk on fire[^]*temporal\.log/,
      ) as string,
    });
    expect(pidsOfFolder(dataDir)).toEqual([]);
  });

  test('a database written by a newer Temporal is refused before anything starts', async () => {
    const dataDir = scratch.folder();
    const version = { format: 1, temporal: { product: 'temporal', version: '1.99.0' } };
    writeFileSync(join(dataDir, 'version.json'), JSON.stringify(version));
    const { temporalBinary } = await fetchServers();
    await expect(startServices({ ...options(dataDir), temporalBinary })).rejects.toMatchObject({
      code: 'data_folder_version',
      message: expect.stringContaining('1.99.0') as string,
    });
    expect(pidsOfFolder(dataDir)).toEqual([]);
    expect(JSON.parse(readFileSync(join(dataDir, 'version.json'), 'utf8'))).toEqual(version);
  });

  test('kill -9 of the process that started them stops them, even if its guard was killed once before', async () => {
    const dataDir = scratch.folder();
    const holder = new NodeProcess('services-process.ts', [dataDir, SERVICES_DIR]);
    await holder.untilOutput(/\[\d+,\d+\]/);
    const pids = JSON.parse(holder.output) as number[];
    const [guard = 0] = guardsOf(holder.pid);
    process.kill(guard, 'SIGKILL');
    const [successor = 0] = await eventually(() => {
      const guards = guardsOf(holder.pid).filter((pid) => pid !== guard);
      expect(guards).toHaveLength(1);
      return guards;
    });
    holder.kill('SIGKILL');
    await eventuallyGone([...pids, successor]);
  });
});
