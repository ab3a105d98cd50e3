import { z } from 'zod';

/** For a route's `headers`, under the name `Idempotency-Key`. Add `.optional()` where it is not required. */
export const idempotencyKeyHeader = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
  .meta({
    description:
      'Names the request: sent again, it gets the answer of the first. 1-255 visible ASCII characters.',
  });
