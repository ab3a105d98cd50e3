import { z } from 'zod';
import { cursorFor } from '../../http/cursor';
import { lastEventIdHeader } from '../../http/last-event-id';
import { cursorQuery, limitQuery, pageOf } from '../../http/page';
import { sse } from '../../http/sse';
import { acceptsEventStream } from '../accepts-event-stream';
import { defineRoute, type NexusRoute } from '../define-route';
import { THREAD_READERS, visibleThread } from '../profile-access';
import { threadEvents } from '../thread-events';
import { eventSchema } from '../views/event';

const cursor = cursorFor('events', z.int().min(0));

const afterQuery = z
  .string()
  .regex(/^(?:0|[1-9]\d{0,14})$/, 'must be the seq of an event, or 0')
  .transform(Number)
  .optional()
  .meta({ description: 'Only events after this `seq`.', type: 'integer' });

export function createThreadEventRoutes(): NexusRoute[] {
  return [listEvents];
}

const listEvents = defineRoute({
  method: 'GET',
  path: '/v1/threads/{threadId}/events',
  operationId: 'listEvents',
  summary: 'Read or follow the events of a thread',
  description:
    'Pages of JSON; with `Accept: text/event-stream` a stream that goes on with every new event, each with its `seq` as id. Where to begin is told by Last-Event-ID, else by `cursor`, else by `after`.',
  tags: ['threads'],
  auth: { scopes: THREAD_READERS },
  query: z.object({ after: afterQuery, limit: limitQuery, cursor: cursorQuery }),
  headers: z.object({ 'Last-Event-ID': lastEventIdHeader }),
  responses: {
    200: { description: 'Events in order', schema: pageOf(eventSchema), media: ['text/event-stream'] },
  },
  handler: async ({ params, query, headers, principal, request }) => {
    const { thread } = await visibleThread(principal, params.threadId);
    const place = query.cursor === undefined ? (query.after ?? 0) : cursor.decode(query.cursor);
    const after = headers['Last-Event-ID'] ?? place;
    if (acceptsEventStream(request.header('accept'))) {
      return sse((stop) => threadEvents(principal, { threadId: thread.id, after, stop }));
    }
    const { limit } = query;
    const { items, next } = await principal.store.events.ofThread(thread.id, { limit, after: String(after) });
    const nextCursor = next === undefined ? {} : { nextCursor: cursor.encode(Number(next)) };
    return { status: 200, body: { items: [...items], ...nextCursor } };
  },
});
