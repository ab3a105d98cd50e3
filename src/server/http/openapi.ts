import {
  OpenApiGeneratorV31,
  OpenAPIRegistry,
  type ResponseConfig,
  type RouteConfig,
  type ZodContentObject,
} from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import type { ResponseSpec } from './answer';
import { problemResponses } from './openapi-problems';
import { pathNames } from './path-template';
import { isRawBody, type BodySpec, type Route } from './route';

interface OpenApiOptions<Principal, Scope extends string> {
  readonly routes: readonly Route<Principal, Scope>[];
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly servers?: readonly { readonly url: string; readonly description?: string }[];
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
}

type OpenApiDocument = ReturnType<OpenApiGeneratorV31['generateDocument']>;

const BEARER = 'bearer';

/**
 * The OpenAPI 3.1 document of the routes. A schema with `.meta({ id: 'Call' })` becomes a shared component of that
 * name; recursive schemas need such an id. The same routes give the same document, member for member.
 */
export function buildOpenApi<Principal, Scope extends string>(
  options: OpenApiOptions<Principal, Scope>,
): OpenApiDocument {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', BEARER, {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key. The scopes named at an operation are alternatives: any one suffices.',
  });
  for (const route of options.routes) registry.registerPath(operationOf(route));
  return new OpenApiGeneratorV31(registry.definitions, { sortComponents: 'alphabetically' }).generateDocument(
    {
      openapi: '3.1.0',
      info: { ...options.info },
      ...(options.servers === undefined ? {} : { servers: options.servers.map((server) => ({ ...server })) }),
      ...(options.tags === undefined ? {} : { tags: options.tags.map((tag) => ({ ...tag })) }),
    },
  );
}

function operationOf<P, S extends string>(route: Route<P, S>): RouteConfig {
  const declared = Object.entries(route.responses).map(
    ([status, spec]) => [status, responseOf(spec)] as const,
  );
  const params = route.params ?? defaultParams(route.path);
  return {
    method: lowerCase(route.method),
    path: route.path,
    operationId: route.operationId,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    tags: [...route.tags],
    security: route.auth === 'none' ? [] : route.auth.scopes.map((scope) => ({ [BEARER]: [scope] })),
    request: {
      ...(params === undefined ? {} : { params }),
      ...(route.query === undefined ? {} : { query: route.query }),
      ...(route.headers === undefined ? {} : { headers: route.headers }),
      ...(route.body === undefined ? {} : { body: bodyOf(route.body) }),
    },
    responses: { ...problemResponses(route), ...notModified(route), ...Object.fromEntries(declared) },
  };
}

function lowerCase<M extends string>(method: M): Lowercase<M> {
  return method.toLowerCase() as Lowercase<M>;
}

function defaultParams(path: string): z.ZodObject | undefined {
  const names = pathNames(path);
  return names.length === 0
    ? undefined
    : z.object(Object.fromEntries(names.map((name) => [name, z.string()])));
}

function bodyOf(body: BodySpec): NonNullable<NonNullable<RouteConfig['request']>['body']> {
  if (isRawBody(body)) {
    const { schema = { type: 'string' as const }, contentType, description } = body;
    return { description, required: true, content: { [contentType]: { schema } } };
  }
  return {
    required: !body.safeParse(undefined).success,
    content: { 'application/json': { schema: body } },
  };
}

/** `sendAnswer` honours If-None-Match wherever a GET answers with an ETag. */
function notModified<P, S extends string>(route: Route<P, S>): Record<number, ResponseConfig> {
  const hasETag = route.method === 'GET' && route.responses[200]?.headers?.['ETag'] !== undefined;
  return hasETag ? { 304: { description: 'If-None-Match names the present ETag.' } } : {};
}

function responseOf(spec: ResponseSpec): ResponseConfig {
  const content: ZodContentObject = {
    ...(spec.schema === undefined ? {} : { 'application/json': { schema: spec.schema } }),
    ...Object.fromEntries(
      (spec.media ?? []).map((media) => [media, { schema: { type: 'string' as const } }]),
    ),
  };
  const headers = Object.entries(spec.headers ?? {}).map(
    ([name, description]) => [name, { description, schema: { type: 'string' as const } }] as const,
  );
  return {
    description: spec.description,
    ...(Object.keys(content).length === 0 ? {} : { content }),
    ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
  };
}
