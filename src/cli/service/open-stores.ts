import type { Logger } from 'pino';
import type { Secrets } from '../../secrets/secrets';
import { openTenantStore, type TenantStore } from '../../store/tenant-store';
import { TenantStores } from '../../store/tenant-stores';
import { SettingsError } from './settings-error';
import type { TenantAddress } from './tenant-list';

/** Connects to the stores of all tenants; when one cannot be reached the others are closed again. */
export async function openStores(
  tenants: readonly TenantAddress[],
  secrets: Secrets,
  log: Logger,
): Promise<TenantStores> {
  const opened: TenantStore[] = [];
  try {
    for (const { tenant, redisUrl } of tenants) {
      const onError = (err: Error): void => log.warn({ tenant, err }, 'the connection to the store failed');
      const knownSecrets = () => secrets.all(tenant);
      opened.push(await openTenantStore({ tenant, url: redisUrl, onError, knownSecrets }));
    }
  } catch (cause) {
    await closeStores(opened);
    const tenant = tenants[opened.length]?.tenant ?? '';
    throw new SettingsError(
      `the store of tenant ${tenant} cannot be reached; check its address in PORTCULLIS_TENANTS`,
      {
        cause,
      },
    );
  }
  return new TenantStores(opened);
}

export async function closeStores(stores: readonly TenantStore[]): Promise<void> {
  await Promise.allSettled(stores.map((store) => store.close()));
}
