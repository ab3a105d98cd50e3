import { z } from 'zod';

const fault = z
  .strictObject({
    in: z.enum(['body', 'query', 'path', 'header']),
    pointer: z
      .string()
      .meta({ description: 'RFC 6901 pointer within the body, or `/<name>` of a parameter.' }),
    detail: z.string(),
    found: z
      .string()
      .optional()
      .meta({ description: 'JSON type of what was found; values are never echoed.' }),
  })
  .meta({ id: 'Fault' });

/** RFC 9457 problem details as the document shows them. */
export const problemSchema = z
  .looseObject({
    type: z.string().meta({ description: 'Stable URI reference, `/problems/<code>`.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().optional(),
    requestId: z.string().optional(),
    errors: z.array(fault).optional().meta({ description: 'Every fault of the request.' }),
  })
  .meta({ id: 'Problem' });
