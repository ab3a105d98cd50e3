import { z } from 'zod';
import type { Profile } from '../../../domain/profile';
import { configurationPatchSchema, profileNameSchema } from '../../../domain/profile-schema';
import { etagOf, requireIfMatch } from '../../http/etag';
import { HttpProblem } from '../../http/problem';
import { changeProfile, withHooks } from '../change-profile';
import { defineRoute, type NexusRoute } from '../define-route';
import { ifMatchHeader, optionalIfMatch } from '../if-match';
import { refuseLocalAddresses } from '../local-addresses';
import { profileSchema, profileView } from '../views/profile';

export function createProfileChangeRoutes({ development }: { development: boolean }): NexusRoute[] {
  return [updateProfile(development), deleteProfile, removeHook];
}

const patchSchema = z
  .strictObject({
    name: profileNameSchema.optional(),
    configuration: configurationPatchSchema.optional(),
  })
  .meta({ id: 'ProfilePatch', description: 'Each member that is given replaces that member whole.' });

const updateProfile = (development: boolean) =>
  defineRoute({
    method: 'PATCH',
    path: '/v1/profiles/{profileId}',
    operationId: 'updateProfile',
    summary: 'Change a profile',
    description: 'Calls that have started keep the version they started with.',
    tags: ['profiles'],
    auth: { scopes: ['profiles'] },
    headers: z.object({ 'If-Match': ifMatchHeader }),
    body: patchSchema,
    problems: ['precondition-required', 'precondition-failed'],
    responses: {
      200: { description: 'The next version', schema: profileSchema, headers: { ETag: 'Its version' } },
    },
    handler: async ({ params, headers, body, principal }) => {
      refuseLocalAddresses(body.configuration ?? {}, development);
      const next = await changeProfile(principal, params.profileId, requireIfMatch(headers['If-Match']), {
        edit: (profile) => patched(profile, body),
        write: (edited) =>
          principal.store.profiles.put(edited, { change: 'updated', by: principal.key.owner }),
      });
      return { status: 200, body: profileView(next), headers: { ETag: etagOf(next.version) } };
    },
  });

function patched(profile: Profile, { name, configuration = {} }: z.output<typeof patchSchema>): Profile {
  const renamed = name === undefined ? profile : { ...profile, name };
  const { hooks, ...others } = configuration;
  const rehooked = hooks === undefined ? renamed : withHooks(renamed, hooks);
  return {
    ...rehooked,
    configuration: { ...rehooked.configuration, ...given(others) },
  };
}

/** Without the members that are not there. */
function given<Members extends object>(
  members: Members,
): { [Name in keyof Members]?: Exclude<Members[Name], undefined> } {
  const there = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(there) as { [Name in keyof Members]?: Exclude<Members[Name], undefined> };
}

const deleteProfile = defineRoute({
  method: 'DELETE',
  path: '/v1/profiles/{profileId}',
  operationId: 'deleteProfile',
  summary: 'Delete a profile',
  description: 'It takes no new threads and no new calls; what runs keeps the version it started with.',
  tags: ['profiles'],
  auth: { scopes: ['profiles'] },
  headers: z.object({ 'If-Match': ifMatchHeader }),
  problems: ['precondition-required', 'precondition-failed'],
  responses: { 204: { description: 'Deleted' } },
  handler: async ({ params, headers, principal }) => {
    await changeProfile(principal, params.profileId, requireIfMatch(headers['If-Match']), {
      edit: (profile) => profile,
      write: (last) => principal.store.profiles.delete(last, principal.key.owner),
    });
    return { status: 204 };
  },
});

const removeHook = defineRoute({
  method: 'DELETE',
  path: '/v1/profiles/{profileId}/hooks/{hookId}',
  operationId: 'removeHook',
  summary: 'Remove a hook from a profile',
  description: 'A default hook that is removed does not come back with a newer set of defaults.',
  tags: ['profiles'],
  auth: { scopes: ['profiles'] },
  headers: z.object({ 'If-Match': ifMatchHeader }),
  problems: ['precondition-failed'],
  responses: {
    200: { description: 'The next version', schema: profileSchema, headers: { ETag: 'Its version' } },
  },
  handler: async ({ params, headers, principal }) => {
    const next = await changeProfile(principal, params.profileId, optionalIfMatch(headers['If-Match']), {
      edit: (profile) => withoutHook(profile, params.hookId),
      write: (edited) =>
        principal.store.profiles.put(edited, {
          change: 'hook_removed',
          by: principal.key.owner,
          removed: [params.hookId],
        }),
    });
    return { status: 200, body: profileView(next), headers: { ETag: etagOf(next.version) } };
  },
});

function withoutHook(profile: Profile, hookId: string): Profile {
  const { hooks } = profile.configuration;
  const rest = hooks.filter(({ id }) => id !== hookId);
  if (rest.length === hooks.length) {
    throw new HttpProblem('not-found', { detail: 'the profile has no hook of this id' });
  }
  return withHooks(profile, rest);
}
