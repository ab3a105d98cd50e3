import type { SseEvent } from '../http/sse';
import type { NexusPrincipal } from './nexus-principal';
import { onEveryChange } from './on-every-change';

const EVENTS_PER_READ = 100;

/** Every event of a thread after the given `seq`, those to come included; each once and in order. */
export function threadEvents(
  principal: NexusPrincipal,
  { threadId, after, stop }: { threadId: string; after: number; stop: AbortSignal },
): AsyncIterable<SseEvent> {
  let last = after;
  return onEveryChange(principal, { threadId, stop }, async function* () {
    for (let more = true; more;) {
      const page = await principal.store.events.ofThread(threadId, {
        limit: EVENTS_PER_READ,
        after: String(last),
      });
      for (const event of page.items) {
        last = event.seq;
        yield { id: String(event.seq), data: event };
      }
      more = page.next !== undefined;
    }
  });
}
