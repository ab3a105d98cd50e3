import { z } from 'zod';
import type { Profile } from '../../../domain/profile';
import { configurationSchema } from '../../../domain/profile-schema';

export const profileSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    configuration: configurationSchema,
    version: z.int().meta({ description: 'Grows by one with every change; the ETag.' }),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    defaults: z
      .strictObject({
        version: z.int().meta({ description: 'Version of the default hooks that the profile took.' }),
        removed: z.array(z.string()).meta({ description: 'Default ids that its owner took out.' }),
      })
      .optional()
      .meta({ description: 'Absent when the profile was made with its own list of hooks.' }),
  })
  .meta({ id: 'Profile' });

type ProfileView = z.output<typeof profileSchema>;

export function profileView({ defaults, ...profile }: Profile): ProfileView {
  if (defaults === undefined) return profile;
  return { ...profile, defaults: { version: defaults.version, removed: [...defaults.removed] } };
}
