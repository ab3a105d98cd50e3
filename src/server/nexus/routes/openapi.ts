import { z } from 'zod';
import { buildOpenApi } from '../../http/openapi';
import { defineRoute, type NexusRoute } from '../define-route';

const INFO = {
  title: 'Portcullis',
  version: '1',
  description: 'A durable gate between AI agents and their tools.',
};

/** The document of the given routes and of its own. */
export function createOpenApiRoute(routes: readonly NexusRoute[]): NexusRoute {
  const route: NexusRoute = defineRoute({
    method: 'GET',
    path: '/openapi.json',
    operationId: 'readOpenApi',
    summary: 'The OpenAPI document of this API',
    tags: ['service'],
    auth: 'none',
    responses: { 200: { description: 'OpenAPI 3.1', schema: z.unknown() } },
    handler: () => ({ status: 200, body: document }),
  });
  // Made once: the routes do not change while the process lives.
  const document = buildOpenApi({ routes: [...routes, route], info: INFO });
  return route;
}
