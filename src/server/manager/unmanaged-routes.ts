import { z } from 'zod';
import type { ManagerStore } from '../../store/manager/manager-store';
import { defineManagerRoute, type ManagerRoute } from './manager-route';

const auth = { scopes: ['operator'] } as const;
const tags = ['tenants'];

/** As Coder writes it; compared by value. */
export const uuid = z
  .string()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'a UUID')
  .transform((text) => text.toLowerCase());

/** Owners in Coder whose own chats, which belong to no tenant, are let be. */
export function unmanagedRoutes(store: ManagerStore): ManagerRoute[] {
  const schema = z.strictObject({ owners: z.array(uuid).max(10_000) }).meta({ id: 'UnmanagedOwners' });
  const path = '/api/v1/unmanaged-owners';
  return [
    defineManagerRoute({
      method: 'GET',
      path,
      operationId: 'readUnmanagedOwners',
      summary: 'Whose own chats are not judged',
      tags,
      auth,
      responses: { 200: { description: 'Ids of owners in Coder', schema } },
      handler: async () => ({ status: 200, body: { owners: await store.unmanagedOwners() } }),
    }),
    defineManagerRoute({
      method: 'PUT',
      path,
      operationId: 'writeUnmanagedOwners',
      summary: 'Replace the list of owners whose own chats are not judged',
      description: 'Events of anybody else that belong to no tenant are refused.',
      tags,
      auth,
      body: schema,
      responses: { 200: { description: 'The list', schema } },
      handler: async ({ body }) => {
        await store.setUnmanagedOwners(body.owners);
        return { status: 200, body };
      },
    }),
  ];
}
