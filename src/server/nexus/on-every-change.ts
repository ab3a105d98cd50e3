import { setTimeout as sleep } from 'node:timers/promises';
import type { NexusPrincipal } from './nexus-principal';

/** Also without a change a stream looks this often, if only to notice that its key was revoked. */
const LOOK_AGAIN_MS = 2_000;

interface ChangeStreamOptions {
  /** Absent: every thread of the tenant. */
  readonly threadId?: string;
  readonly stop: AbortSignal;
  /** Least time between two looks, in milliseconds; changes in between are seen together. Default: none. */
  readonly restMs?: number;
}

/**
 * What `look` yields now, and again after every change, until `stop` is aborted or the key is revoked. Listening
 * begins before the first look, so no change falls between the two.
 */
export async function* onEveryChange<Item>(
  { store, key }: NexusPrincipal,
  { threadId, stop, restMs }: ChangeStreamOptions,
  look: () => AsyncIterable<Item>,
): AsyncGenerator<Item, void> {
  const changes = store.changes.listen(threadId);
  try {
    while (!stop.aborted && (await store.apiKeys.read(key.id)) !== undefined) {
      yield* look();
      if (restMs !== undefined) await rest(restMs, stop);
      await changes.next(LOOK_AGAIN_MS, stop);
    }
  } finally {
    changes.stop();
  }
}

async function rest(ms: number, stop: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stop }).catch((error: unknown) => {
    if (!stop.aborted) throw error;
  });
}
