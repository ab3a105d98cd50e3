import { startManager } from '../server/manager/start-manager';
import { ManagerStore } from '../store/manager/manager-store';
import { createLogger } from './service/logger';
import { readManagerSettings } from './service/manager-settings';
import { announceReady, stopRequested } from './service/run-until-stopped';
import { SettingsError } from './service/settings-error';

/** Requests in flight have this long to finish after a stop was asked for. */
const GRACE_MS = 10_000;

/** `portcullis manager`: takes Coder's events and knows whose they are, until it is asked to stop. */
export async function runManager(env: NodeJS.ProcessEnv): Promise<void> {
  const { redisUrl, logLevel, ...settings } = readManagerSettings(env);
  const log = createLogger('manager', logLevel);
  const store = await openStore(redisUrl, (err) => log.warn({ err }, 'the connection to the store failed'));
  const manager = await startManager({ ...settings, store, log });
  log.info({ url: manager.url }, 'manager serves');
  announceReady();

  log.info({ reason: await stopRequested() }, 'manager stops');
  await manager.close(GRACE_MS);
  await store.close();
}

/** `portcullis create-operator-key`: the way to the first key of Manager. */
export async function createOperatorKey(env: NodeJS.ProcessEnv, owner: string): Promise<string> {
  const { redisUrl } = readManagerSettings(env);
  const store = await openStore(redisUrl, () => undefined);
  try {
    const createdAt = new Date().toISOString();
    return (await store.keys.create({ owner, scopes: ['admin'], createdAt })).token;
  } finally {
    await store.close();
  }
}

async function openStore(url: string, onError: (error: Error) => void): Promise<ManagerStore> {
  try {
    return await ManagerStore.open({ url, onError });
  } catch (cause) {
    throw new SettingsError('the Redis of PORTCULLIS_MANAGER_REDIS cannot be reached', { cause });
  }
}
