import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { DefaultHookSet } from '../../../domain/default-hooks';
import type { Profile } from '../../../domain/profile';
import { configurationInputSchema, profileNameSchema } from '../../../domain/profile-schema';
import type { ConfigurationInput } from '../../../domain/profile-schema';
import { cursorFor } from '../../http/cursor';
import { etagOf } from '../../http/etag';
import { cursorQuery, limitQuery, pageOf } from '../../http/page';
import { refuseLocalAddresses } from '../local-addresses';
import { defineRoute, type NexusRoute } from '../define-route';
import { maySeeProfile, requireWholeTenant, visibleProfile } from '../profile-access';
import { profileSchema, profileView } from '../views/profile';
import { visiblePage } from '../visible-page';

const cursor = cursorFor('profiles', z.string());

export interface ProfileRouteOptions {
  readonly defaultHooks: DefaultHookSet;
  readonly development: boolean;
}

export function createProfileRoutes(options: ProfileRouteOptions): NexusRoute[] {
  return [createProfile(options), listProfiles, readProfile];
}

function createProfile({ defaultHooks, development }: ProfileRouteOptions): NexusRoute {
  return defineRoute({
    method: 'POST',
    path: '/v1/profiles',
    operationId: 'createProfile',
    summary: 'Make a profile',
    description:
      'Without `hooks` the default hooks are installed. `hooks: []` installs none, and a list that is not empty is the whole list.',
    tags: ['profiles'],
    auth: { scopes: ['profiles'] },
    body: z.strictObject({
      name: profileNameSchema,
      configuration: configurationInputSchema.prefault({}),
    }),
    responses: {
      201: {
        description: 'Made',
        schema: profileSchema,
        headers: { Location: 'Where the profile is', ETag: 'Its version' },
      },
    },
    handler: async ({ body, principal }) => {
      requireWholeTenant(principal);
      refuseLocalAddresses(body.configuration, development);
      const profile = newProfile(body.name, body.configuration, defaultHooks);
      const written = await principal.store.profiles.put(profile, {
        change: 'created',
        by: principal.key.owner,
      });
      if (written !== 'written') throw new Error(`profile ${profile.id} exists already`);
      const headers = { Location: `/v1/profiles/${profile.id}`, ETag: etagOf(profile.version) };
      return { status: 201, body: profileView(profile), headers };
    },
  });
}

/** Defaults are stored explicitly, so that what is read is the whole truth. */
function newProfile(name: string, { hooks, ...rest }: ConfigurationInput, set: DefaultHookSet): Profile {
  const at = new Date().toISOString();
  const profile = { id: uuidv7(), name, version: 1, createdAt: at, updatedAt: at };
  if (hooks !== undefined) return { ...profile, configuration: { ...rest, hooks } };
  return {
    ...profile,
    configuration: { ...rest, hooks: [...set.hooks] },
    defaults: { version: set.version, removed: [] },
  };
}

const listProfiles = defineRoute({
  method: 'GET',
  path: '/v1/profiles',
  operationId: 'listProfiles',
  summary: 'List profiles',
  tags: ['profiles'],
  auth: { scopes: ['profiles', 'read'] },
  query: z.object({ limit: limitQuery, cursor: cursorQuery }),
  responses: { 200: { description: 'A page, oldest first', schema: pageOf(profileSchema) } },
  handler: async ({ query, principal: { key, store } }) => {
    const page = await visiblePage(query, {
      cursor,
      list: (request) => store.profiles.list(request),
      show: async (id) => {
        const profile = maySeeProfile(key, id) ? await store.profiles.read(id) : undefined;
        return profile && profileView(profile);
      },
    });
    return { status: 200, body: page };
  },
});

const readProfile = defineRoute({
  method: 'GET',
  path: '/v1/profiles/{profileId}',
  operationId: 'readProfile',
  summary: 'Read a profile',
  tags: ['profiles'],
  auth: { scopes: ['profiles', 'read'] },
  responses: { 200: { description: 'The profile', schema: profileSchema, headers: { ETag: 'Its version' } } },
  handler: async ({ params, principal }) => {
    const profile = await visibleProfile(principal, params.profileId);
    return { status: 200, body: profileView(profile), headers: { ETag: etagOf(profile.version) } };
  },
});
