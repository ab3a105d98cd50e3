import type { ApiKey } from '../../store/api-keys';
import type { TenantStore } from '../../store/tenant-store';

/** Who sent a request, and the store of the tenant that the key belongs to. */
export interface NexusPrincipal {
  readonly tenant: string;
  readonly key: ApiKey;
  readonly store: TenantStore;
}
