import type { StoredWait } from '../../domain/stored-wait';
import type { NexusPrincipal } from './nexus-principal';
import { findVisibleThread } from './profile-access';

/** Whether a key that reads or resolves may see a wait: a wait is seen with its thread. */
export async function maySeeWait(principal: NexusPrincipal, stored: StoredWait): Promise<boolean> {
  // Such a key sees every thread unless it is limited to some profiles; only then is the thread's profile needed.
  if (principal.key.profileIds === undefined) return true;
  return (await findVisibleThread(principal, stored.threadId)) !== undefined;
}
