import { z } from 'zod';
import { conditionsSchema } from './condition-schema';
import { faultOf } from './schema-faults';
import { toolPatternFault } from './tool-pattern';

/** Most permissions of one profile. */
export const MAX_PERMISSIONS = 64;

export const toolsSchema = z.array(faultOf(toolPatternFault)).min(1).max(64).meta({
  description: 'Exact tool names, or a prefix and one trailing `*`. Case-sensitive, byte for byte.',
});

export const permissionSchema = z
  .strictObject({
    id: z.string().regex(/^[A-Za-z0-9._:-]{1,128}$/, 'an id is 1-128 characters of A-Z a-z 0-9 . _ : -'),
    effect: z.enum(['allow', 'deny']).meta({
      description:
        'A matching deny denies. Else a matching allow lets the call go on without asking its hooks.',
    }),
    tools: toolsSchema,
    where: conditionsSchema.optional(),
    reason: z.string().min(1).max(1_024).optional().meta({ description: 'Reaches the caller.' }),
  })
  .meta({ id: 'Permission' });

export type Permission = z.output<typeof permissionSchema>;
