import { z } from 'zod';
import type { DefaultHookSet } from '../../../domain/default-hooks';
import { MAX_HOOKS } from '../../../domain/hook-limits';
import { hooksSchema } from '../../../domain/hook-schema';
import { etagOf } from '../../http/etag';
import { HttpProblem } from '../../http/problem';
import { defineRoute, type NexusRoute } from '../define-route';
import { visibleProfile } from '../profile-access';
import { upgradeProfile, type ProfileUpgrade } from '../upgrade-profile';
import { profileSchema, profileView } from '../views/profile';

const defaultHooksSchema = z
  .strictObject({ version: z.int(), hooks: hooksSchema })
  .meta({ id: 'DefaultHooks' });

const upgradeSchema = z
  .strictObject({
    profile: profileSchema,
    result: z.enum(['upgraded', 'current']),
    added: z.array(z.string()).meta({ description: 'Ids of the hooks that were appended.' }),
  })
  .meta({ id: 'DefaultsUpgrade' });

export function createDefaultHookRoutes({
  defaultHooks: set,
}: {
  defaultHooks: DefaultHookSet;
}): NexusRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/default-hooks',
      operationId: 'readDefaultHooks',
      summary: 'Read the present set of default hooks',
      tags: ['profiles'],
      auth: { scopes: ['profiles', 'read'] },
      responses: { 200: { description: 'The set', schema: defaultHooksSchema } },
      handler: () => ({ status: 200, body: { version: set.version, hooks: [...set.hooks] } }),
    }),
    defineRoute({
      method: 'POST',
      path: '/v1/profiles/{profileId}/defaults/upgrade',
      operationId: 'upgradeDefaults',
      summary: 'Bring a profile up to the present set of default hooks',
      description:
        'Appends the default hooks that the profile never had and never removed. Nothing that stands under a reserved id is touched. Safe to repeat.',
      tags: ['profiles'],
      auth: { scopes: ['profiles'] },
      problems: ['conflict'],
      responses: {
        200: { description: 'The profile', schema: upgradeSchema, headers: { ETag: 'Its version' } },
      },
      handler: async ({ params, principal }) => {
        const { id } = await visibleProfile(principal, params.profileId);
        const upgrade = await upgradeProfile(principal.store, id, { set, by: principal.key.owner });
        const { profile, ...result } = resultOf(upgrade);
        const headers = { ETag: etagOf(profile.version) };
        return { status: 200, body: { profile: profileView(profile), ...result }, headers };
      },
    }),
  ];
}

function resultOf(upgrade: ProfileUpgrade) {
  switch (upgrade.kind) {
    case 'upgraded':
      return { profile: upgrade.profile, result: upgrade.kind, added: [...upgrade.added] };
    case 'current':
      return { profile: upgrade.profile, result: upgrade.kind, added: [] };
    case 'gone':
      throw new HttpProblem('not-found');
    case 'not_following':
      throw new HttpProblem('conflict', {
        detail:
          'the profile was made with its own list of hooks and follows no defaults; read /v1/default-hooks and add what you want with PATCH',
      });
    case 'too_many_hooks':
      throw new HttpProblem('conflict', {
        detail: `with the missing hooks the profile would pass ${MAX_HOOKS}; remove some of its hooks and ask again`,
        extensions: { missing: upgrade.missing },
      });
  }
}
