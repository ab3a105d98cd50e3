import { upgradeDefaults, type DefaultHookSet } from '../../domain/default-hooks';
import type { Profile } from '../../domain/profile';
import type { TenantStore } from '../../store/tenant-store';
import { nextVersion } from './change-profile';

export type ProfileUpgrade =
  | { readonly kind: 'gone' }
  | { readonly kind: 'not_following' }
  | { readonly kind: 'current'; readonly profile: Profile }
  | { readonly kind: 'too_many_hooks'; readonly missing: readonly string[] }
  | { readonly kind: 'upgraded'; readonly profile: Profile; readonly added: readonly string[] };

/**
 * Stores a profile with the default hooks of a newer set as its next version. Any number may run at once: one writes,
 * the others find the profile current.
 */
export async function upgradeProfile(
  store: TenantStore,
  profileId: string,
  { set, by }: { set: DefaultHookSet; by: string },
): Promise<ProfileUpgrade> {
  for (;;) {
    const profile = await store.profiles.read(profileId);
    if (profile === undefined) return { kind: 'gone' };
    const upgrade = upgradeDefaults(profile, set);
    if (upgrade.kind === 'current') return { kind: 'current', profile };
    if (upgrade.kind !== 'upgraded') return upgrade;
    const { hooks, defaults, added } = upgrade;
    const configuration = { ...profile.configuration, hooks: [...hooks] };
    const next = nextVersion(profile, { ...profile, configuration, defaults });
    const written = await store.profiles.put(next, { change: 'defaults_upgraded', by, added });
    if (written === 'written') return { kind: 'upgraded', profile: next, added };
  }
}
