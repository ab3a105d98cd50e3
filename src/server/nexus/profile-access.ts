import type { Profile } from '../../domain/profile';
import { hasScope } from '../../domain/principal';
import type { ApiKey } from '../../store/api-keys';
import type { ThreadRecord, ThreadSnapshot } from '../../store/threads';
import { HttpProblem } from '../http/problem';
import type { NexusPrincipal } from './nexus-principal';
import { canBeId } from './stored-id';

/**
 * What a key may see. Beyond its `profileIds` a profile, and every thread, call, wait and event under it, is unknown
 * to the key: the answer is the 404 of an id that never was.
 */
export function maySeeProfile({ profileIds }: ApiKey, profileId: string): boolean {
  return profileIds === undefined || profileIds.includes(profileId);
}

/** @throws HttpProblem not-found for an unknown, deleted or foreign profile alike */
export async function visibleProfile({ key, store }: NexusPrincipal, profileId: string): Promise<Profile> {
  const profile =
    maySeeProfile(key, profileId) && canBeId(profileId) ? await store.profiles.read(profileId) : undefined;
  if (profile === undefined) throw new HttpProblem('not-found');
  return profile;
}

/** Scopes of the routes that show threads and what is in them. */
export const THREAD_READERS = ['calls', 'read', 'waits:resolve'] as const;

/** Keys that read or resolve see every thread within their profiles; keys that make calls see their owner's. */
function maySeeThread(key: ApiKey, thread: ThreadRecord): boolean {
  if (!maySeeProfile(key, thread.profileId)) return false;
  if (!maySeeOnlyOwnThreads(key)) return true;
  return hasScope(key, 'calls') && thread.owner === key.owner;
}

export function maySeeOnlyOwnThreads(key: ApiKey): boolean {
  return !hasScope(key, 'read') && !hasScope(key, 'waits:resolve');
}

export async function findVisibleThread(
  { key, store }: NexusPrincipal,
  threadId: string,
): Promise<ThreadSnapshot | undefined> {
  const snapshot = canBeId(threadId) ? await store.threads.read(threadId) : undefined;
  return snapshot !== undefined && maySeeThread(key, snapshot.thread) ? snapshot : undefined;
}

/** @throws HttpProblem not-found for an unknown or foreign thread alike */
export async function visibleThread(principal: NexusPrincipal, threadId: string): Promise<ThreadSnapshot> {
  const snapshot = await findVisibleThread(principal, threadId);
  if (snapshot === undefined) throw new HttpProblem('not-found');
  return snapshot;
}

/**
 * For what concerns a tenant as a whole: a key that is limited to some profiles could lift its own limit there.
 * @throws HttpProblem forbidden
 */
export function requireWholeTenant({ key }: NexusPrincipal): void {
  if (key.profileIds === undefined) return;
  throw new HttpProblem('forbidden', {
    detail: 'the key is limited to some profiles by its profileIds; use one without that limit',
  });
}
