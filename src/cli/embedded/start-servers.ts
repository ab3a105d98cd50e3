import { readDataVersion, refuseForData } from './data-version';
import { locateRedis } from './locate-redis';
import type { LocatedServer } from './locate-server';
import { locateTemporal } from './locate-temporal';
import { startOnPorts } from './port-race';
import { assertPortsFree, type PortRequest } from './ports';
import { startRedis, type AppendFsync, type RunningRedis } from './redis-server';
import type { ServiceContext } from './service-context';
import { StartError } from './start-error';
import { startTemporal, type RunningTemporal, type TemporalServerOptions } from './temporal-server';

interface EmbeddedTemporal extends TemporalServerOptions {
  readonly port: number;
  readonly uiPort: number;
  readonly binary?: string | undefined;
}

interface EmbeddedRedis {
  readonly port: number;
  readonly appendFsync: AppendFsync;
  readonly binary?: string | undefined;
}

/** What is left out is not started. */
export interface ServersWanted {
  readonly temporal?: EmbeddedTemporal | undefined;
  readonly redis?: EmbeddedRedis | undefined;
  /** Ports of others that are to be free as well before anything starts. */
  readonly otherPorts?: readonly PortRequest[];
}

export interface RunningServers {
  readonly temporal?: RunningTemporal;
  readonly redis?: RunningRedis;
}

/** Finds all, then checks all ports, and only then starts anything. The caller stops what runs when this throws `StartError`. */
export async function startServers(wanted: ServersWanted, context: ServiceContext): Promise<RunningServers> {
  const located = await locateAll(wanted, context);
  const temporalPorts = wanted.temporal && portsOfTemporal(wanted.temporal);
  const redisPort = wanted.redis && { redis: portOfRedis(wanted.redis) };
  const requests: PortRequest[] = [
    ...Object.values(temporalPorts ?? {}),
    ...Object.values(redisPort ?? {}),
    ...(wanted.otherPorts ?? []),
  ];
  await assertPortsFree(requests.filter(({ port }) => port !== 0));

  const running: { temporal?: RunningTemporal; redis?: RunningRedis } = {};
  const { redis, temporal } = located;
  if (redis && redisPort && wanted.redis) {
    const { appendFsync } = wanted.redis;
    running.redis = await startOnPorts(redisPort, (ports) =>
      startRedis(redis, ports.redis, appendFsync, context),
    );
  }
  if (temporal && temporalPorts && wanted.temporal) {
    const options = wanted.temporal;
    running.temporal = await startOnPorts(temporalPorts, (ports) =>
      startTemporal(temporal, ports, options, context),
    );
  }
  return running;
}

/** Both searches are made even if the first fails, so that the person hears everything that is missing at once. */
async function locateAll(
  { temporal, redis }: ServersWanted,
  { folder, ...search }: ServiceContext,
): Promise<{ temporal: LocatedServer | undefined; redis: LocatedServer | undefined }> {
  const written = readDataVersion(folder.path);
  const errors: StartError[] = [];
  const attempt = async (locate: Promise<LocatedServer> | undefined): Promise<LocatedServer | undefined> => {
    try {
      return await locate;
    } catch (error) {
      if (!(error instanceof StartError) || error.code === 'interrupted') throw error;
      errors.push(error);
      return undefined;
    }
  };
  const located = {
    temporal: await attempt(
      temporal &&
        locateTemporal({
          ...search,
          explicitPath: temporal.binary,
          refuseForData: (server) => refuseForData(written.temporal, server),
        }),
    ),
    redis: await attempt(
      redis &&
        locateRedis({
          ...search,
          explicitPath: redis.binary,
          refuseForData: (server) => refuseForData(written.redis, server),
        }),
    ),
  };
  const [first] = errors;
  if (first)
    throw new StartError(first.code, errors.map(({ message }) => message).join('\n\n'), { cause: first });
  return located;
}

function portsOfTemporal({ port, uiPort }: EmbeddedTemporal): Record<'temporal' | 'temporalUi', PortRequest> {
  return {
    temporal: { use: 'Temporal', setting: 'PORTCULLIS_TEMPORAL_PORT', port },
    temporalUi: { use: 'the Temporal UI', setting: 'PORTCULLIS_TEMPORAL_UI_PORT', port: uiPort },
  };
}

function portOfRedis({ port }: EmbeddedRedis): PortRequest {
  return { use: 'Redis', setting: 'PORTCULLIS_REDIS_PORT', port };
}
