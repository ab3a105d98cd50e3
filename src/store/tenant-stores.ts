import type { TenantStore } from './tenant-store';

/** The stores of the tenants that this process serves. */
export class TenantStores {
  private readonly stores: ReadonlyMap<string, TenantStore>;

  constructor(stores: readonly TenantStore[]) {
    this.stores = new Map(stores.map((store) => [store.tenant, store]));
  }

  find(tenant: string): TenantStore | undefined {
    return this.stores.get(tenant);
  }

  /** Throws for a tenant that this process was not configured to serve. */
  of(tenant: string): TenantStore {
    const store = this.find(tenant);
    if (store === undefined) throw new Error(`this process does not serve the tenant ${tenant}`);
    return store;
  }

  all(): TenantStore[] {
    return [...this.stores.values()];
  }
}
