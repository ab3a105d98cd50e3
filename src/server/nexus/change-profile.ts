import { defaultsAfterEdit } from '../../domain/default-hooks';
import type { Profile } from '../../domain/profile';
import type { Hook } from '../../domain/hook-schema';
import type { ProfileWrite } from '../../store/profiles';
import { assertVersion, type ExpectedVersions } from '../http/etag';
import { HttpProblem } from '../http/problem';
import type { NexusPrincipal } from './nexus-principal';
import { visibleProfile } from './profile-access';

interface ProfileChange {
  /** The profile as it should be; version and time are set here. */
  readonly edit: (profile: Profile) => Profile;
  readonly write: (next: Profile) => Promise<ProfileWrite>;
}

/**
 * Makes the next version of a profile. When somebody else writes in between it begins again with what is stored then:
 * a caller that named a version is refused, one that accepts any version has its change applied to the present one.
 * @throws HttpProblem not-found, precondition-failed
 */
export async function changeProfile(
  principal: NexusPrincipal,
  profileId: string,
  expected: ExpectedVersions,
  { edit, write }: ProfileChange,
): Promise<Profile> {
  for (;;) {
    const profile = await visibleProfile(principal, profileId);
    assertVersion(expected, profile.version);
    const next = nextVersion(profile, edit(profile));
    const written = await write(next);
    if (written === 'written') return next;
    if (written === 'gone') throw new HttpProblem('not-found');
  }
}

export function nextVersion(before: Profile, edited: Profile): Profile {
  return { ...edited, version: before.version + 1, updatedAt: new Date().toISOString() };
}

/** An owner's edit of the hooks. A profile that follows the defaults remembers which of them went. */
export function withHooks(profile: Profile, hooks: Hook[]): Profile {
  const { configuration, defaults } = profile;
  const edited = { ...profile, configuration: { ...configuration, hooks } };
  if (defaults === undefined) return edited;
  return { ...edited, defaults: defaultsAfterEdit(defaults, { from: configuration.hooks, to: hooks }) };
}
