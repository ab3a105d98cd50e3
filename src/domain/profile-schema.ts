import { z } from 'zod';
import { DEFAULT_GRANT_TTL_MS, DEFAULT_OUTPUT_TIMEOUT_MS, MAX_WAIT_MS } from './hook-limits';
import { fieldFaultAt } from './condition-schema';
import { hooksSchema } from './hook-schema';
import { instructionsSchema, modelSchema } from './model-schema';
import { MAX_PERMISSIONS, permissionSchema } from './permission-schema';
import { always, partsOf, refuseRepeatedIds } from './schema-faults';
import { toolsListSchema } from './tool-schema';

const timeoutsSchema = z.strictObject({
  outputTimeoutMs: z.int().min(1_000).max(MAX_WAIT_MS).default(DEFAULT_OUTPUT_TIMEOUT_MS).meta({
    description: 'How long an allowed call waits for its output, in milliseconds; then it is `expired`.',
  }),
  approvalGrantTtlMs: z.int().min(1_000).max(MAX_WAIT_MS).default(DEFAULT_GRANT_TTL_MS).meta({
    description:
      'How long an approval of a call that was answered `pending` can be picked up, in milliseconds; then it is `expired`.',
  }),
});

const permissionsSchema = z.array(permissionSchema).superRefine((permissions: unknown, ctx) => {
  if (!Array.isArray(permissions)) return;
  if (permissions.length > MAX_PERMISSIONS) {
    ctx.addIssue({
      code: 'custom',
      message: `a profile has at most ${MAX_PERMISSIONS} permissions; these are ${permissions.length}`,
    });
  }
  refuseRepeatedIds(permissions, 'permission', ctx);
  permissions.forEach((permission: unknown, index) => {
    const { where } = partsOf(permission);
    if (!Array.isArray(where)) return;
    where.forEach((condition: unknown, place) => {
      const { field } = partsOf(condition);
      const fault = typeof field === 'string' ? fieldFaultAt('before_tool_call', field) : undefined;
      if (fault !== undefined) {
        ctx.addIssue({ code: 'custom', path: [index, 'where', place, 'field'], message: fault });
      }
    });
  });
}, always);

const unmatchedToolsSchema = z.enum(['allow', 'ask', 'deny']).meta({
  description:
    'What becomes of a call that no permission and no enforcing hook of `before_tool_call` matched.',
});

const members = {
  permissions: permissionsSchema.default([]).meta({
    description: 'Evaluated before any hook of `before_tool_call`, and denials again on a rewritten input.',
  }),
  unmatchedTools: unmatchedToolsSchema.default('allow'),
  tools: toolsListSchema.default([]).meta({ description: 'The tools that are known, with their schemas.' }),
  model: modelSchema.optional().meta({ description: 'Runs the turns of the profile.' }),
  instructions: instructionsSchema.optional(),
};

/** What a client writes. `hooks` absent means: install the default hooks. */
export const configurationInputSchema = z
  .strictObject({ hooks: hooksSchema.optional(), ...members, timeouts: timeoutsSchema.prefault({}) })
  .meta({ id: 'ConfigurationInput' });

/** What is stored and read back: every default is written out. */
export const configurationSchema = z
  .strictObject({ hooks: hooksSchema, ...members, timeouts: timeoutsSchema })
  .meta({ id: 'Configuration' });

/** What an edit may hold; a member that is given replaces that member whole. */
export const configurationPatchSchema = z.strictObject({
  hooks: hooksSchema.optional(),
  permissions: permissionsSchema.optional(),
  unmatchedTools: unmatchedToolsSchema.optional(),
  tools: toolsListSchema.optional(),
  model: modelSchema.optional(),
  instructions: instructionsSchema.optional(),
  timeouts: timeoutsSchema.optional(),
});

export const profileNameSchema = z.string().trim().min(1).max(128);

export type Timeouts = z.output<typeof timeoutsSchema>;
export type Configuration = z.output<typeof configurationSchema>;
export type ConfigurationInput = z.output<typeof configurationInputSchema>;
