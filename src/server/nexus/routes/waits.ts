import { z } from 'zod';
import { cursorFor } from '../../http/cursor';
import { cursorQuery, limitQuery, pageOf } from '../../http/page';
import { sse } from '../../http/sse';
import { acceptsEventStream } from '../accepts-event-stream';
import { defineRoute, type NexusRoute } from '../define-route';
import { openWaitView } from '../views/open-waits';
import { maySeeValues, waitSchema } from '../views/wait';
import { visiblePage } from '../visible-page';
import { waitEvents } from '../wait-events';
import { maySeeWait } from '../wait-visibility';

const cursor = cursorFor('waits', z.string().regex(/^\d{1,16}$/));

export function createWaitRoutes(): NexusRoute[] {
  return [listWaits];
}

const listWaits = defineRoute({
  method: 'GET',
  path: '/v1/waits',
  operationId: 'listWaits',
  summary: 'List or follow the open waits',
  description:
    'Pages of JSON; with `Accept: text/event-stream` a stream: `wait` for every open wait, `listed` once these are out, then `wait` for each that opens or gets a vote and `wait_closed` for each that goes. A new connection begins anew.',
  tags: ['waits'],
  auth: { scopes: ['waits:resolve', 'read'] },
  query: z.object({ limit: limitQuery, cursor: cursorQuery }),
  responses: {
    200: {
      description: 'A page, oldest first',
      schema: pageOf(waitSchema),
      media: ['text/event-stream'],
    },
  },
  handler: async ({ query, principal, request }) => {
    if (acceptsEventStream(request.header('accept'))) return sse((stop) => waitEvents(principal, stop));
    const { store } = principal;
    const withValue = maySeeValues(principal);
    const page = await visiblePage(query, {
      cursor,
      list: (asked) => store.waits.listOpen(asked),
      show: async (id) => {
        const stored = await store.waits.read(id);
        if (stored === undefined || !(await maySeeWait(principal, stored))) return undefined;
        return openWaitView(store, stored, { withValue });
      },
    });
    return { status: 200, body: page };
  },
});
