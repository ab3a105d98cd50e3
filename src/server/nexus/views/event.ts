import { z } from 'zod';
import type { EventType, StoredEvent } from '../../../domain/audit';

/** Keyed by type so that the compiler misses none. */
const TYPES: Readonly<Record<EventType, true>> = {
  thread_created: true,
  thread_closed: true,
  turn_started: true,
  turn_finished: true,
  tool_call_started: true,
  text_started: true,
  text_finished: true,
  hook_decision: true,
  wait_opened: true,
  wait_vote: true,
  wait_resolved: true,
  tool_started: true,
  tool_finished: true,
  tool_call_finished: true,
  profile_changed: true,
  lifecycle_event: true,
};

export const eventTypeSchema = z.enum(Object.keys(TYPES) as EventType[]);

export const eventSchema = z
  .strictObject({
    seq: z.int().meta({ description: 'Place in the thread, from 1 without gaps.' }),
    id: z.string().meta({ description: 'The same for every attempt to store the event.' }),
    type: eventTypeSchema,
    at: z.iso.datetime(),
    data: z
      .custom<StoredEvent['data']>()
      .meta({ type: 'object', description: 'Facts of the event. Digests, never values.' }),
  })
  .meta({ id: 'Event' });

/** One line of the audit. An event of no thread, such as a changed profile, has `seq` 0. */
export interface AuditEntryView extends StoredEvent {
  /** Sent as `after`, the audit goes on from here. */
  readonly cursor: string;
  readonly threadId?: string;
}
