import { z } from 'zod';
import type { AuditEntry } from '../../../store/events';
import { cursorFor } from '../../http/cursor';
import { ndjson } from '../../http/ndjson';
import { auditEntries } from '../audit-entries';
import { defineRoute, type NexusRoute } from '../define-route';
import { asUnavailable } from '../outage';
import { eventTypeSchema, type AuditEntryView } from '../views/event';

const cursor = cursorFor('audit', z.string().regex(/^\d{1,15}-\d{1,15}$/));

const timeQuery = (description: string) =>
  z.iso
    .datetime({ offset: true, error: 'must be a time of RFC 3339' })
    .transform((text) => Date.parse(text))
    .optional()
    .meta({ description, type: 'string' });

export function createAuditRoutes(): NexusRoute[] {
  return [readAudit];
}

const readAudit = defineRoute({
  method: 'GET',
  path: '/v1/audit',
  operationId: 'readAudit',
  summary: 'Read the audit of the tenant',
  description:
    'One JSON value per line, in the order in which the events were stored, until the end of what is stored. Each line carries a `cursor`; the last one, sent as `after`, goes on from there.',
  tags: ['audit'],
  auth: { scopes: ['read'] },
  query: z.object({
    threadId: z.string().optional(),
    type: z.array(eventTypeSchema).optional().meta({ description: 'May be given several times.' }),
    since: timeQuery('Events at or after this time.'),
    until: timeQuery('Events before this time.'),
    after: z.string().max(1024).optional().meta({ description: '`cursor` of an entry.' }),
  }),
  responses: { 200: { description: 'Lines of AuditEntry', media: ['application/x-ndjson'] } },
  handler: ({ query, principal }) => {
    const { type: types, threadId, since, until } = query;
    const after = query.after === undefined ? undefined : cursor.decode(query.after);
    return ndjson((stop) => views(auditEntries(principal, { threadId, types, since, until, after }, stop)));
  },
});

/** A store that is away before the first line is told as such; later, the broken connection tells it. */
async function* views(entries: AsyncIterable<AuditEntry>): AsyncGenerator<AuditEntryView, void> {
  try {
    for await (const { cursor: place, event, ...at } of entries) {
      yield { cursor: cursor.encode(place), ...at, ...event };
    }
  } catch (error) {
    throw asUnavailable(error);
  }
}
