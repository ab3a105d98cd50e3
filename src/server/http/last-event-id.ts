import { z } from 'zod';

/**
 * For a route's `headers`, under the name `Last-Event-ID`: the sequence number after which the stream goes on.
 * Browsers send an empty value when they never had an id; it counts as absent.
 */
export const lastEventIdHeader = z
  .string()
  .regex(/^(?:0|[1-9]\d{0,14})?$/, 'must be the id of an event of this stream')
  .transform((text) => (text === '' ? undefined : Number(text)))
  .optional()
  .meta({ description: 'Go on after the event of this id.', type: 'string' });
