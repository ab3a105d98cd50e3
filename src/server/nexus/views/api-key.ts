import { z } from 'zod';
import { OWNER_PATTERN, SCOPES } from '../../../domain/principal';
import type { ApiKey } from '../../../store/api-keys';

export const keyMembers = {
  owner: z
    .string()
    .regex(OWNER_PATTERN, 'an owner is 1-128 characters of A-Z a-z 0-9 . _ @ + -')
    .meta({ description: 'Two keys of one owner are one person.' }),
  scopes: z.array(z.enum(SCOPES)).min(1).meta({ description: '`admin` includes every other scope.' }),
  profileIds: z.array(z.string().min(1).max(128)).min(1).max(1024).optional().meta({
    description: 'Profiles beyond which everything is unknown to the key. Absent: all.',
  }),
};

export const keySchema = z
  .strictObject({ id: z.string(), ...keyMembers, createdAt: z.iso.datetime() })
  .meta({ id: 'Key' });

export const createdKeySchema = keySchema
  .extend({ token: z.string().meta({ description: 'Told once, here.' }) })
  .meta({ id: 'CreatedKey' });

type KeyView = z.output<typeof keySchema>;

export function keyView({ id, owner, scopes, profileIds, createdAt }: ApiKey): KeyView {
  return {
    id,
    owner,
    scopes: [...scopes],
    ...(profileIds !== undefined && { profileIds: [...profileIds] }),
    createdAt,
  };
}
