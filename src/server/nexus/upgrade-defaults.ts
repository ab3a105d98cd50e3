import { SERVICE_OWNER } from '../../domain/principal';
import type { Logger } from 'pino';
import type { DefaultHookSet } from '../../domain/default-hooks';
import type { TenantStore } from '../../store/tenant-store';
import { upgradeProfile } from './upgrade-profile';

const PROFILES_PER_READ = 100;

interface DefaultsReport {
  readonly upgraded: readonly string[];
  /** Profiles that would pass the limit of hooks, and the default hooks that they lack. */
  readonly left: readonly { readonly profileId: string; readonly missing: readonly string[] }[];
}

/**
 * Brings every profile of a tenant that follows the default hooks up to the given set, unless the tenant made that
 * manual. For the start of the service; repeating it, or running it on several servers at once, changes nothing more.
 */
export async function upgradeAllDefaults(
  store: TenantStore,
  set: DefaultHookSet,
  log: Logger,
): Promise<DefaultsReport> {
  const upgraded: string[] = [];
  const left: { profileId: string; missing: readonly string[] }[] = [];
  if ((await store.settings.read()).defaultHooks === 'manual') return { upgraded, left };
  for await (const profileId of profileIds(store)) {
    const upgrade = await upgradeProfile(store, profileId, { set, by: SERVICE_OWNER });
    if (upgrade.kind === 'upgraded') upgraded.push(profileId);
    if (upgrade.kind === 'too_many_hooks') left.push({ profileId, missing: upgrade.missing });
  }
  const facts = { tenant: store.tenant, defaultsVersion: set.version };
  if (upgraded.length > 0) log.info({ ...facts, profiles: upgraded }, 'default hooks added to profiles');
  for (const profile of left) {
    log.warn({ ...facts, ...profile }, 'profile left without new default hooks: it would pass the limit');
  }
  return { upgraded, left };
}

async function* profileIds(store: TenantStore): AsyncGenerator<string, void> {
  let after: string | undefined;
  do {
    const page = await store.profiles.list({
      limit: PROFILES_PER_READ,
      ...(after !== undefined && { after }),
    });
    yield* page.items;
    after = page.next;
  } while (after !== undefined);
}
