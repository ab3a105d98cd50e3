import { z } from 'zod';
import { requireIfMatch, type ExpectedVersions } from '../http/etag';

/** For a route's `headers`, under the name `If-Match`. */
export const ifMatchHeader = z
  .string()
  .optional()
  .meta({ description: 'ETag of the version that the change is meant for, or `*` for any.' });

/** For changes that say by themselves what they are about: without the header any version will do. */
export function optionalIfMatch(header: string | undefined): ExpectedVersions {
  return header === undefined ? '*' : requireIfMatch(header);
}
