import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { ManagerStore } from '../../store/manager/manager-store';
import type { ManagedTenant } from '../../store/manager/records';
import { HttpProblem } from '../http/problem';
import { defineManagerRoute, type ManagerRoute } from './manager-route';
import { audienceOf } from './relay';
import { unmanagedRoutes, uuid } from './unmanaged-routes';

const auth = { scopes: ['operator'] } as const;
const tags = ['tenants'];
const tenantId = z.string().regex(/^[a-z0-9-]{1,40}$/, 'a tenant is 1-40 characters of a-z 0-9 -');
const nexusUrl = z
  .url({ protocol: /^https?$/, error: 'where the Nexus of the tenant is, such as https://nexus.example.com' })
  .transform((url) => url.replace(/\/+$/, ''));

const tenantSchema = z
  .strictObject({
    id: z.string(),
    nexusUrl: z.string(),
    hookAudience: z.string().meta({ description: 'What PORTCULLIS_HOOK_AUDIENCE of that Nexus has to be.' }),
    state: z.enum(['active', 'paused', 'deleted']),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: 'Tenant' });

function tenantView(tenant: ManagedTenant): z.output<typeof tenantSchema> {
  const { id, nexusUrl: url, state, createdAt, updatedAt } = tenant;
  return { id, nexusUrl: url, hookAudience: audienceOf(tenant), state, createdAt, updatedAt };
}

/** Tenants, whose workspaces are whose, and the keys that events are signed with. */
export function createTenantRoutes(store: ManagerStore): ManagerRoute[] {
  const known = async (id: string): Promise<ManagedTenant> => {
    const tenant = await store.readTenant(id);
    if (tenant === undefined || tenant.state === 'deleted') throw new HttpProblem('not-found');
    return tenant;
  };
  const change = async (
    id: string,
    edit: (tenant: ManagedTenant) => ManagedTenant,
  ): Promise<ManagedTenant> => {
    for (;;) {
      const before = await known(id);
      const after = { ...edit(before), updatedAt: new Date().toISOString() };
      if ((await store.putTenant(after, before)) === 'written') return after;
    }
  };
  return [
    defineManagerRoute({
      method: 'POST',
      path: '/api/v1/tenants',
      operationId: 'createTenant',
      summary: 'Make a tenant known',
      tags,
      auth,
      body: z.strictObject({ id: tenantId, nexusUrl, hookAudience: z.url().optional() }),
      problems: ['conflict'],
      responses: { 201: { description: 'Made', schema: tenantSchema } },
      handler: async ({ body: { hookAudience, ...body } }) => {
        const now = new Date().toISOString();
        const tenant: ManagedTenant = {
          ...body,
          ...(hookAudience !== undefined && { hookAudience }),
          ...{ state: 'active', createdAt: now, updatedAt: now },
        };
        if ((await store.putTenant(tenant)) !== 'written') {
          throw new HttpProblem('conflict', { detail: 'there is, or was, a tenant of this name' });
        }
        return { status: 201, body: tenantView(tenant) };
      },
    }),
    defineManagerRoute({
      method: 'GET',
      path: '/api/v1/tenants',
      operationId: 'listTenants',
      summary: 'List the tenants',
      tags,
      auth,
      responses: {
        200: { description: 'All of them', schema: z.strictObject({ items: z.array(tenantSchema) }) },
      },
      handler: async () => ({ status: 200, body: { items: (await store.listTenants()).map(tenantView) } }),
    }),
    defineManagerRoute({
      method: 'GET',
      path: '/api/v1/tenants/{tenantId}',
      operationId: 'readTenant',
      summary: 'Read a tenant',
      tags,
      auth,
      responses: { 200: { description: 'The tenant', schema: tenantSchema } },
      handler: async ({ params }) => ({ status: 200, body: tenantView(await known(params.tenantId)) }),
    }),
    defineManagerRoute({
      method: 'PATCH',
      path: '/api/v1/tenants/{tenantId}',
      operationId: 'updateTenant',
      summary: 'Change, pause or resume a tenant',
      tags,
      auth,
      body: z.strictObject({ nexusUrl: nexusUrl.optional(), state: z.enum(['active', 'paused']).optional() }),
      responses: { 200: { description: 'The tenant', schema: tenantSchema } },
      handler: async ({ params, body }) => {
        const tenant = await change(params.tenantId, (before) => ({
          ...before,
          ...(body.nexusUrl !== undefined && { nexusUrl: body.nexusUrl }),
          ...(body.state !== undefined && { state: body.state }),
        }));
        return { status: 200, body: tenantView(tenant) };
      },
    }),
    defineManagerRoute({
      method: 'DELETE',
      path: '/api/v1/tenants/{tenantId}',
      operationId: 'deleteTenant',
      summary: 'Delete a tenant',
      description: 'Its events are refused from then on; its name is not used again.',
      tags,
      auth,
      responses: { 204: { description: 'Deleted' } },
      handler: async ({ params }) => {
        await change(params.tenantId, (before) => ({ ...before, state: 'deleted' }));
        return { status: 204 };
      },
    }),
    defineManagerRoute({
      method: 'PUT',
      path: '/api/v1/tenants/{tenantId}/workspaces/{workspaceId}',
      operationId: 'putWorkspace',
      summary: 'Say whose a workspace is, and in which role',
      tags,
      auth,
      params: z.object({ tenantId, workspaceId: uuid }),
      body: z.strictObject({
        role: z.string().regex(/^[a-z0-9-]{1,40}$/, 'a role is 1-40 characters of a-z 0-9 -'),
        ticket: z
          .string()
          .regex(/^[A-Za-z0-9_-]{1,64}$/, 'a ticket is 1-64 characters of A-Z a-z 0-9 _ -')
          .optional(),
        ownerId: uuid.optional(),
      }),
      problems: ['conflict'],
      responses: { 204: { description: 'Noted' } },
      handler: async ({ params, body: { role, ticket, ownerId } }) => {
        await known(params.tenantId);
        const written = await store.putWorkspace({
          ...params,
          role,
          ...(ticket !== undefined && { ticket }),
          ...(ownerId !== undefined && { ownerId }),
        });
        if (written === 'other_tenant') {
          throw new HttpProblem('conflict', {
            detail: 'the workspace is another tenant’s; take it away there first',
          });
        }
        return { status: 204 };
      },
    }),
    defineManagerRoute({
      method: 'DELETE',
      path: '/api/v1/tenants/{tenantId}/workspaces/{workspaceId}',
      operationId: 'deleteWorkspace',
      summary: 'Take a workspace away from its tenant',
      tags,
      auth,
      params: z.object({ tenantId, workspaceId: uuid }),
      responses: { 204: { description: 'Taken away' } },
      handler: async ({ params }) => {
        const workspace = await store.readWorkspace(params.workspaceId);
        if (workspace?.tenantId !== params.tenantId) throw new HttpProblem('not-found');
        await store.deleteWorkspace(params.workspaceId);
        return { status: 204 };
      },
    }),
    defineManagerRoute({
      method: 'POST',
      path: '/api/v1/tenants/{tenantId}/hook-keys',
      operationId: 'createHookKey',
      summary: 'Make the next hook key of a tenant',
      description:
        'Events are signed with it from now on: install it in the tenant’s Nexus (`PUT /v1/hook-keys/{generation}`) at once. It is told here only.',
      tags,
      auth,
      responses: {
        201: { description: 'The key', schema: z.strictObject({ generation: z.int(), secret: z.string() }) },
      },
      handler: async ({ params }) => {
        await known(params.tenantId);
        const secret = randomBytes(32).toString('base64url');
        const generation = await store.addHookKey(params.tenantId, secret);
        return { status: 201, body: { generation, secret } };
      },
    }),
    defineManagerRoute({
      method: 'DELETE',
      path: '/api/v1/tenants/{tenantId}/hook-keys/{generation}',
      operationId: 'retireManagerHookKey',
      summary: 'Retire a hook key',
      tags,
      auth,
      params: z.object({
        tenantId,
        generation: z
          .string()
          .regex(/^[1-9]\d{0,8}$/)
          .transform(Number),
      }),
      responses: { 204: { description: 'Nothing is signed with it any more' } },
      handler: async ({ params }) => {
        if (!(await store.retireHookKey(params.tenantId, params.generation)))
          throw new HttpProblem('not-found');
        return { status: 204 };
      },
    }),
    ...unmanagedRoutes(store),
  ];
}
