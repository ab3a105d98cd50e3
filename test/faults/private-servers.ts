import { mkdtemp, rm } from 'node:fs/promises';
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
  const ports = { temporal: 0, ui: 0, redis: 0 };
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
  ports.redis = Number(new URL(redis.url).port);
  ports.temporal = Number(new URL(`http://${temporal.address}`).port);
  ports.ui = Number(new URL(temporal.uiUrl).port);
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
