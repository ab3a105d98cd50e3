import { z } from 'zod';
import type { JsonObject } from '../../../domain/json-value';
import type { ThreadSnapshot } from '../../../store/threads';
import type { NexusPrincipal } from '../nexus-principal';
import { openWaitViews } from './open-waits';
import { maySeeValues, waitSchema } from './wait';

export const threadSchema = z
  .strictObject({
    id: z.string(),
    profileId: z.string(),
    metadata: z
      .custom<JsonObject>()
      .meta({ type: 'object', description: 'What was given when the thread was made.' }),
    state: z.enum(['idle', 'running', 'waiting', 'closed']).meta({
      description: 'waiting: it holds an open wait. running: a call has not ended. closed: takes no calls.',
    }),
    pendingWaits: z.array(waitSchema),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'Thread' });

export type ThreadView = z.output<typeof threadSchema>;

export async function threadView(
  principal: NexusPrincipal,
  { thread, closed }: ThreadSnapshot,
): Promise<ThreadView> {
  const { id, profileId, metadata, createdAt } = thread;
  const { openCalls, openWaits, turn } = await principal.store.threads.readOpenWork(id);
  const pendingWaits = await openWaitViews(principal.store, openWaits, {
    withValue: maySeeValues(principal),
  });
  const state = threadState({
    closed,
    isWaiting: pendingWaits.length > 0,
    isRunning: openCalls > 0 || turn !== undefined,
  });
  return { id, profileId, metadata, state, pendingWaits, createdAt };
}

function threadState(facts: {
  closed: boolean;
  isWaiting: boolean;
  isRunning: boolean;
}): ThreadView['state'] {
  if (facts.closed) return 'closed';
  if (facts.isWaiting) return 'waiting';
  return facts.isRunning ? 'running' : 'idle';
}
