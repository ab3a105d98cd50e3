import { z } from 'zod';
import { approversSchema } from '../../../domain/processor-schema';
import { redactionSettingsSchema } from '../../../domain/redaction-schema';
import { DEFAULT_SETTINGS, type TenantSettings } from '../../../domain/settings';

export const settingsSchema = z
  .strictObject({
    defaultHooks: z.enum(['auto', 'manual']).default(DEFAULT_SETTINGS.defaultHooks).meta({
      description:
        'Whether a newer set of default hooks reaches the profiles that follow it when the service starts.',
    }),
    operatorSignal: z.boolean().default(DEFAULT_SETTINGS.operatorSignal).meta({
      description:
        'Whether a signal from the Temporal UI or command line may resolve waits. A call keeps what held at its start.',
    }),
    defaultApprovers: approversSchema.optional().meta({
      description:
        'Owners, or `scope:<scope>`, who may answer where a hook names nobody. Absent: every key with scope waits:resolve. A call keeps what held at its start.',
    }),
    auditValues: z.enum(['none', 'redacted', 'full']).default(DEFAULT_SETTINGS.auditValues).meta({
      description:
        'What events show of inputs and outputs besides their digests. `full` shows everything but secrets that the service knows.',
    }),
    redaction: redactionSettingsSchema.prefault({}).meta({
      description: 'What `redacted` hides besides the built-in rules, at any depth.',
    }),
    roleProfiles: z
      .record(
        z.string().regex(/^[a-z0-9-]{1,40}$/, 'a role is 1-40 characters of a-z 0-9 -'),
        z.string().min(1).max(128),
      )
      .default({})
      .meta({ description: 'The profile of chats in Coder, by the role of their workspace.' }),
    retention: z
      .strictObject({
        auditDays: z.int().min(1).max(36_500).optional().meta({ description: 'Age of the oldest event.' }),
        auditEvents: z.int().min(1).max(1_000_000_000).optional().meta({ description: 'Number of events.' }),
      })
      .prefault({})
      .meta({
        description:
          "How much of the tenant's audit is kept, trimmed about every minute; what is absent bounds nothing. The events of a thread stay with the thread.",
      }),
  })
  .meta({ id: 'Settings' });

export function settingsView({
  defaultApprovers,
  ...settings
}: TenantSettings): z.output<typeof settingsSchema> {
  return { ...settings, ...(defaultApprovers !== undefined && { defaultApprovers: [...defaultApprovers] }) };
}
