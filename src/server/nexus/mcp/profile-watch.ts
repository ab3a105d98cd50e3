import type { Profile } from '../../../domain/profile';
import type { TenantStore } from '../../../store/tenant-store';
import type { Toolbox } from '../../../tools/toolbox';

/** The store's notices wake it; this is only for one that was lost. */
const LOOK_AGAIN_MS = 60_000;

/**
 * Tells listeners that the tools of a profile may have changed: because the profile did, or a server said so. One watch
 * for all sessions of a profile.
 */
export class ProfileWatches {
  private readonly watches = new Map<string, Watch>();

  constructor(
    private readonly toolbox: Toolbox,
    private readonly closing: AbortSignal,
  ) {}

  /** @returns what stops it */
  add(store: TenantStore, profile: Profile, listener: () => void): () => void {
    const key = `${store.tenant} ${profile.id}`;
    const watch = this.watches.get(key) ?? new Watch(this.toolbox, this.closing, { store, profile });
    this.watches.set(key, watch);
    watch.listeners.add(listener);
    return () => {
      watch.listeners.delete(listener);
      if (watch.listeners.size > 0 || this.watches.get(key) !== watch) return;
      this.watches.delete(key);
      watch.stop();
    };
  }
}

class Watch {
  readonly listeners = new Set<() => void>();
  private readonly stopped = new AbortController();

  constructor(
    private readonly toolbox: Toolbox,
    closing: AbortSignal,
    of: { store: TenantStore; profile: Profile },
  ) {
    closing.addEventListener('abort', () => this.stop(), { once: true, signal: this.stopped.signal });
    void this.run(of);
  }

  stop(): void {
    this.stopped.abort();
  }

  private async run({ store, profile: first }: { store: TenantStore; profile: Profile }): Promise<void> {
    const { signal } = this.stopped;
    const listener = store.changes.listenToProfile(first.id);
    let profile = first;
    let unwatch = this.watchServers(store.tenant, profile);
    while (!signal.aborted) {
      await listener.next(LOOK_AGAIN_MS, signal);
      const now = await store.profiles.read(first.id).catch(() => undefined);
      if (now === undefined || now.version === profile.version) continue;
      unwatch();
      profile = now;
      unwatch = this.watchServers(store.tenant, profile);
      this.tell();
    }
    unwatch();
    listener.stop();
  }

  private watchServers(tenant: string, { configuration }: Profile): () => void {
    return this.toolbox.watch(tenant, configuration, () => this.tell());
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}
