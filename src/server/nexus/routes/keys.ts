import { RESERVED_OWNERS } from '../../../domain/principal';
import { z } from 'zod';
import type { ApiKey } from '../../../store/api-keys';
import type { TenantStore } from '../../../store/tenant-store';
import { cursorFor } from '../../http/cursor';
import { faultsProblem } from '../../http/fault';
import { cursorQuery, limitQuery, pageOf } from '../../http/page';
import { HttpProblem } from '../../http/problem';
import { defineRoute, type NexusRoute } from '../define-route';
import { requireWholeTenant } from '../profile-access';
import { canBeId } from '../stored-id';
import { createdKeySchema, keyMembers, keySchema, keyView } from '../views/api-key';
import { visiblePage } from '../visible-page';

const cursor = cursorFor('keys', z.string());

export function createKeyRoutes(): NexusRoute[] {
  return [createKey, listKeys, readKey, deleteKey];
}

const createKey = defineRoute({
  method: 'POST',
  path: '/v1/keys',
  operationId: 'createKey',
  summary: 'Make a key',
  description: 'The token is in this answer and nowhere else.',
  tags: ['keys'],
  auth: { scopes: ['admin'] },
  body: z.strictObject(keyMembers),
  responses: {
    201: { description: 'Made', schema: createdKeySchema, headers: { Location: 'Where the key is' } },
  },
  handler: async ({ body, principal }) => {
    requireWholeTenant(principal);
    refuseReservedOwner(body.owner);
    const { owner, profileIds } = body;
    const { key, token } = await principal.store.apiKeys.create({
      owner,
      scopes: [...new Set(body.scopes)],
      ...(profileIds !== undefined && { profileIds: [...new Set(profileIds)] }),
      createdAt: new Date().toISOString(),
    });
    return { status: 201, body: { ...keyView(key), token }, headers: { Location: `/v1/keys/${key.id}` } };
  },
});

function refuseReservedOwner(owner: string): void {
  if (!RESERVED_OWNERS.includes(owner)) return;
  throw faultsProblem([
    { in: 'body', pointer: '/owner', detail: 'is reserved; choose another name', found: 'string' },
  ]);
}

const listKeys = defineRoute({
  method: 'GET',
  path: '/v1/keys',
  operationId: 'listKeys',
  summary: 'List keys',
  tags: ['keys'],
  auth: { scopes: ['admin'] },
  query: z.object({ limit: limitQuery, cursor: cursorQuery }),
  responses: { 200: { description: 'A page', schema: pageOf(keySchema) } },
  handler: async ({ query, principal }) => {
    requireWholeTenant(principal);
    const { apiKeys } = principal.store;
    const page = await visiblePage(query, {
      cursor,
      list: (request) => apiKeys.list(request),
      show: async (id) => {
        const key = await apiKeys.read(id);
        return key && keyView(key);
      },
    });
    return { status: 200, body: page };
  },
});

const readKey = defineRoute({
  method: 'GET',
  path: '/v1/keys/{keyId}',
  operationId: 'readKey',
  summary: 'Read a key',
  tags: ['keys'],
  auth: { scopes: ['admin'] },
  responses: { 200: { description: 'The key, without its token', schema: keySchema } },
  handler: async ({ params, principal }) => {
    requireWholeTenant(principal);
    return { status: 200, body: keyView(await existingKey(principal.store, params.keyId)) };
  },
});

const deleteKey = defineRoute({
  method: 'DELETE',
  path: '/v1/keys/{keyId}',
  operationId: 'deleteKey',
  summary: 'Revoke a key',
  description: 'At once: requests with it are refused and its streams end.',
  tags: ['keys'],
  auth: { scopes: ['admin'] },
  problems: ['conflict'],
  responses: { 204: { description: 'Revoked' } },
  handler: async ({ params, principal }) => {
    requireWholeTenant(principal);
    const { id } = await existingKey(principal.store, params.keyId);
    if (id === principal.key.id) {
      throw new HttpProblem('conflict', {
        detail: 'a key cannot revoke itself, or a tenant could lose its last one; use another admin key',
      });
    }
    if (!(await principal.store.apiKeys.delete(id))) throw new HttpProblem('not-found');
    return { status: 204 };
  },
});

async function existingKey({ apiKeys }: TenantStore, keyId: string): Promise<ApiKey> {
  const key = canBeId(keyId) ? await apiKeys.read(keyId) : undefined;
  if (key === undefined) throw new HttpProblem('not-found');
  return key;
}
