import { deathError } from '../embedded/await-answer';
import type { EmbeddedSettings } from '../embedded/embedded-settings';
import { settlePorts, type PortRequest } from '../embedded/ports';
import { startServers, type RunningServers } from '../embedded/start-servers';
import { interruption } from '../embedded/start-error';
import { awaitNexus } from './await-nexus';
import { childEnvironment, managerEnvironment } from './child-environment';
import type { ReadyState } from './ready-file';
import { startChildren } from './start-children';
import { summary } from './summary';
import type { UpOptions } from './up-options';
import type { UpRun } from './up-run';

/** Resolves when everything answers and the person has been told. Throws `StartError`; the caller stops what runs. */
export async function startEverything(run: UpRun): Promise<void> {
  const { folder, options, progress, ready, end } = run;
  const { settings, env = process.env } = options;
  const nexusRequest: PortRequest = { use: 'Nexus', setting: 'PORTCULLIS_PORT', port: settings.nexusPort };

  const hasManager = options.children.manager !== undefined;
  const managerRequest: PortRequest = {
    use: 'Manager',
    setting: 'PORTCULLIS_MANAGER_PORT',
    port: hasManager ? settings.managerPort : 0,
  };
  const own = hasManager ? [nexusRequest, managerRequest] : [nexusRequest];

  const servers = await startServers(serversWanted(options, own), {
    folder,
    servicesDir: settings.servicesDir,
    env,
    progress,
    signal: end.signal,
  });
  watchServers(servers, run);

  const { nexusRequest: nexusPort, managerRequest: managerPort } = await settlePorts({
    nexusRequest,
    managerRequest,
  });
  const nexusUrl = `http://127.0.0.1:${nexusPort}`;
  const managerUrl = `http://127.0.0.1:${managerPort}`;
  const addresses = addressesOf(settings, servers);
  const context = { tenants: addresses.tenants, dataDir: folder.path, nexusUrl, managerUrl };
  const prepared = (await orEnd(options.prepare(context), end.signal)) ?? { nexus: {}, manager: {} };
  const shared = childEnvironment(env, settings, { ...addresses, nexusPort });

  const children = await orEnd(
    startChildren(run, {
      ports: {
        nexus: { ...nexusRequest, port: nexusPort },
        manager: { ...managerRequest, port: managerPort },
      },
      env: {
        nexus: { ...shared, ...prepared.nexus },
        worker: shared,
        manager: {
          ...managerEnvironment(env),
          PORTCULLIS_MANAGER_PORT: String(managerPort),
          ...prepared.manager,
        },
      },
    }),
    end.signal,
  );
  await awaitNexus(nexusUrl, folder.logFile('nexus'), end.signal);

  const state: ReadyState = {
    nexus: nexusUrl,
    ...(hasManager && { manager: managerUrl }),
    temporalAddress: addresses.temporalAddress,
    temporalNamespace: addresses.temporalNamespace,
    ...(servers.temporal && { temporalUi: servers.temporal.uiUrl }),
    redisUrl: addresses.redisUrl,
    pids: {
      up: process.pid,
      ...children.pids(),
      ...(servers.temporal && { temporal: servers.temporal.process.pid }),
      ...(servers.redis && { redis: servers.redis.process.pid }),
    },
  };
  ready.publish(state);
  progress.line(summary(state, folder.path, options.nextSteps(nexusUrl)));
}

function serversWanted(
  { settings: { temporal, redis }, searchAttributes, dynamicConfig = {} }: UpOptions,
  otherPorts: PortRequest[],
): Parameters<typeof startServers>[0] {
  return {
    temporal: temporal.kind === 'embedded' ? { ...temporal, searchAttributes, dynamicConfig } : undefined,
    redis: redis.kind === 'embedded' ? redis : undefined,
    otherPorts,
  };
}

/** A server that dies takes the run with it: restarted beside clients that still hold what it may have lost, it would do more harm. */
function watchServers({ temporal, redis }: RunningServers, { folder, end }: UpRun): void {
  const watched = [
    { process: temporal?.process, title: 'Temporal', logFile: folder.logFile('temporal') },
    { process: redis?.process, title: 'Redis', logFile: folder.logFile('redis') },
  ];
  for (const { process, title, logFile } of watched)
    void process?.exited.then(async () => end.abort(await deathError(process, title, logFile)));
}

function addressesOf(
  { temporal, redis }: EmbeddedSettings,
  servers: RunningServers,
): { temporalAddress: string; temporalNamespace: string; tenants: string; redisUrl: string } {
  const redisUrl = redis.kind === 'external' ? redis.redisUrl : (servers.redis?.url ?? '');
  return {
    temporalAddress: temporal.kind === 'external' ? temporal.address : (servers.temporal?.address ?? ''),
    temporalNamespace:
      temporal.kind === 'external' ? temporal.namespace : (servers.temporal?.namespace ?? ''),
    tenants: redis.kind === 'external' ? redis.tenants : `local=${redisUrl}`,
    redisUrl,
  };
}

/** The promise, unless the run ends first. */
function orEnd<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = (): void => reject(interruption(signal));
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}
