import { z } from 'zod';
import { conditionsSchema, fieldFaultAt } from './condition-schema';
import { MAX_HOOKS } from './hook-limits';
import { toolsSchema } from './permission-schema';
import { isTextPoint, POINTS } from './point';
import { agentProcessorSchema, clientProcessorSchema, urlProcessorSchema } from './processor-schema';
import { always, partsOf, refuseRepeatedIds } from './schema-faults';

const hook = z
  .strictObject({
    id: z.string().regex(/^[A-Za-z0-9._:-]{1,128}$/, 'an id is 1-128 characters of A-Z a-z 0-9 . _ : -'),
    point: z.enum(POINTS),
    match: z
      .strictObject({ tools: toolsSchema.optional(), where: conditionsSchema.optional() })
      .optional()
      .meta({
        description: 'When the hook runs: for these tools, and when all conditions hold. Absent: always.',
      }),
    processor: z.discriminatedUnion('type', [
      clientProcessorSchema,
      urlProcessorSchema,
      agentProcessorSchema,
    ]),
    onFailure: z.enum(['fail_closed', 'fail_open']).default('fail_closed').meta({
      description:
        'fail_closed: no answer means that the work does not happen. fail_open: no answer counts as `defer`.',
    }),
    mode: z.enum(['enforce', 'observe']).default('enforce').meta({
      description: 'observe: audited with what it would have decided, never obeyed, never parks.',
    }),
  })
  .superRefine((each: unknown, ctx) => {
    const { point, match } = partsOf(each);
    const { where } = partsOf(match);
    const known = POINTS.find((each) => each === point);
    if (known === undefined) return;
    if (isTextPoint(known) && partsOf(match)['tools'] !== undefined) {
      const message = `only hooks at the tool points match tools; ${known} judges a text`;
      ctx.addIssue({ code: 'custom', path: ['match', 'tools'], message });
    }
    if (!Array.isArray(where)) return;
    where.forEach((condition: unknown, index) => {
      const { field } = partsOf(condition);
      const fault = typeof field === 'string' ? fieldFaultAt(known, field) : undefined;
      if (fault !== undefined) {
        ctx.addIssue({ code: 'custom', path: ['match', 'where', index, 'field'], message: fault });
      }
    });
  }, always)
  .meta({ id: 'Hook' });

export const hooksSchema = z
  .array(hook)
  .superRefine((hooks: unknown, ctx) => {
    if (!Array.isArray(hooks)) return;
    if (hooks.length > MAX_HOOKS) {
      ctx.addIssue({
        code: 'custom',
        message: `a profile has at most ${MAX_HOOKS} hooks; these are ${hooks.length}`,
      });
    }
    refuseRepeatedIds(hooks, 'hook', ctx);
  }, always)
  .meta({ maxItems: MAX_HOOKS });

export type Hook = z.output<typeof hook>;
