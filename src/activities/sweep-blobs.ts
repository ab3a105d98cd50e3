import { blobsInUse } from '../domain/blobs-in-use';
import { isOpen } from '../domain/call';
import type { TenantStore } from '../store/tenant-store';

const MAX_PER_RUN = 2_000;

/**
 * Deletes values that no step of their call took up and none can any more: the server that wrote one died before it sent
 * its message, or the message came too late. As long as the call is open a message may still be under way; then the
 * value vanishes with the call's end, or by its own time-out. Gives how many were deleted.
 */
export async function sweepBlobs(
  store: TenantStore,
  isRunning: (callId: string) => Promise<boolean>,
  before: number,
): Promise<number> {
  let swept = 0;
  for (const { callId, name } of await store.blobs.listUnclaimed(before, MAX_PER_RUN)) {
    const known = await store.calls.read(callId);
    if (known === undefined ? await isRunning(callId) : isOpen(known.state.call.status)) continue;
    // One that is in use was taken up by a step whose entry another server wrote again; it only leaves the list.
    if (known !== undefined && blobsInUse(known.start, known.state).includes(name))
      await store.blobs.claim(callId, name);
    else await store.blobs.discard(callId, name);
    swept += 1;
  }
  return swept;
}
