import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDataFolder } from '../../src/cli/embedded/data-folder';
import { SILENT } from '../../src/cli/embedded/progress';
import { startServers, type RunningServers } from '../../src/cli/embedded/start-servers';
import { SEARCH_ATTRIBUTES } from '../../src/workflows/search-attributes';
import { SERVICES_DIR } from '../embedded/scratch';
import { playScene, type Scene, type SceneOptions, type Servers } from './scene';

type Server = 'temporal' | 'redis';

/** Two servers of a test's own, which it may kill: each comes back at its address and with its data. */
export interface PrivateServers extends Servers {
  /** SIGKILL, as a power failure would; resolves when it is gone. */
  kill(server: Server): Promise<void>;
  start(server: Server): Promise<void>;
  restart(server: Server): Promise<void>;
  close(): Promise<void>;
}

/** Plays a scene on servers of its own. */
export async function playOnOwnServers(
  options: Omit<SceneOptions, 'servers'>,
  play: (scene: Scene, servers: PrivateServers) => Promise<void>,
): Promise<void> {
  const servers = await startPrivateServers();
  try {
    await playScene({ ...options, servers }, (scene) => play(scene, servers));
  } finally {
    await servers.close();
  }
}

async function startPrivateServers(): Promise<PrivateServers> {
  const dataDir = await mkdtemp(join(tmpdir(), 'portcullis-faults-'));
  const folder = await openDataFolder(dataDir, SILENT);
  const context = {
    folder,
    servicesDir: SERVICES_DIR,
    env: process.env,
    progress: SILENT,
    signal: undefined,
  };
  const ports = { temporal: await keptPort(), ui: await keptPort(), redis: await keptPort() };
  const run = (server: Server): Promise<RunningServers> =>
    startServers(
      server === 'redis'
        ? { redis: { port: ports.redis, appendFsync: 'always' } }
        : {
            temporal: {
              port: ports.temporal,
              uiPort: ports.ui,
              searchAttributes: SEARCH_ATTRIBUTES,
              dynamicConfig: {},
            },
          },
      context,
    );
  const { redis } = await run('redis');
  const { temporal } = await run('temporal');
  if (!redis || !temporal) throw new Error('both servers were asked for');
  const running = { redis: redis.process, temporal: temporal.process };

  const kill = async (server: Server): Promise<void> => {
    running[server].kill();
    await running[server].exited;
  };
  const start = async (server: Server): Promise<void> => {
    const again = (await run(server))[server];
    if (!again) throw new Error(`${server} was asked for`);
    running[server] = again.process;
  };
  return {
    temporalAddress: temporal.address,
    redisUrl: redis.url,
    kill,
    start,
    async restart(server) {
      await kill(server);
      await start(server);
    },
    async close() {
      await folder.processes.stopAll(5_000);
      folder.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * A free port below those that the system gives to outgoing connections: a server that is away for a moment must find
 * its port free when it comes back, while its clients are trying to connect.
 */
async function keptPort(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 16_000);
    const probe = createServer();
    const free = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => resolve(true));
    });
    await new Promise((resolve) => probe.close(resolve));
    if (free) return port;
  }
}
