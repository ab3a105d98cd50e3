import { z } from 'zod';
import { buildOpenApi } from '../../src/server/http/openapi';
import { PROBLEM_TYPES } from '../../src/server/http/problem-types';
import { limitQuery, pageOf } from '../../src/server/http/page';
import { preferHeader } from '../../src/server/http/prefer';
import { defineRoute } from './fixture';

const makeRoutes = () => {
  const call = z.strictObject({ id: z.string(), input: z.unknown() }).meta({ id: 'Call' });
  return [
    defineRoute({
      method: 'POST',
      path: '/v1/threads/{threadId}/calls',
      operationId: 'makeCall',
      summary: 'Make a call',
      tags: ['calls'],
      auth: { scopes: ['calls', 'admin'] },
      headers: z.object({ Prefer: preferHeader }),
      body: z.strictObject({ tool: z.string() }),
      problems: ['conflict'],
      responses: { 202: { description: 'Parked', schema: call, headers: { Location: 'Ask here' } } },
      handler: () => ({ status: 202, body: { id: '1', input: 1 } }),
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/calls',
      operationId: 'listCalls',
      summary: 'List calls',
      tags: ['calls'],
      auth: 'none',
      query: z.object({ limit: limitQuery }),
      responses: {
        200: {
          description: 'A page',
          schema: pageOf(call),
          media: ['text/event-stream'],
          headers: { ETag: 'version' },
        },
      },
      handler: () => ({ status: 200, body: { items: [] } }),
    }),
  ];
};

const info = { title: 'Portcullis', version: '1' };
const build = () => buildOpenApi({ routes: makeRoutes(), info });

test('two documents built twice are equal, byte for byte', () => {
  expect(JSON.stringify(build())).toBe(JSON.stringify(build()));
});

test('an operation shows its parameters, body, answers and scopes', () => {
  const operation = build().paths?.['/v1/threads/{threadId}/calls']?.post;
  expect(operation).toMatchObject({
    operationId: 'makeCall',
    tags: ['calls'],
    security: [{ bearer: ['calls'] }, { bearer: ['admin'] }],
    parameters: [
      { in: 'path', name: 'threadId', required: true, schema: { type: 'string' } },
      { in: 'header', name: 'Prefer', required: false, schema: { type: 'string' } },
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { required: ['tool'], additionalProperties: false } } },
    },
    responses: {
      202: {
        description: 'Parked',
        headers: { Location: { description: 'Ask here' } },
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Call' } } },
      },
    },
  });
});

test('the problems that every route can answer with are shown without being declared', () => {
  const document = build();
  const post = document.paths?.['/v1/threads/{threadId}/calls']?.post?.responses ?? {};
  expect(Object.keys(post)).toEqual([
    '202',
    '400',
    '401',
    '403',
    '404',
    '409',
    '413',
    '415',
    '422',
    '429',
    '500',
    '503',
    '504',
  ]);
  expect(post['415']).toEqual({
    description: `\`unsupported-media-type\`: ${PROBLEM_TYPES['unsupported-media-type'].when}`,
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  });
  const get = document.paths?.['/v1/calls']?.get;
  expect(Object.keys(get?.responses ?? {})).toEqual(['200', '304', '400', '500', '503', '504']);
  expect(get?.security).toEqual([]);
});

test('shared schemas are components, and a page may also be a stream', () => {
  const document = build();
  expect(document.openapi).toBe('3.1.0');
  expect(Object.keys(document.components?.schemas ?? {})).toEqual(['Call', 'Fault', 'Problem']);
  expect(document.components?.securitySchemes).toMatchObject({ bearer: { type: 'http', scheme: 'bearer' } });
  expect(document.paths?.['/v1/calls']?.get).toMatchObject({
    parameters: [
      {
        in: 'query',
        name: 'limit',
        required: false,
        schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
      },
    ],
    responses: {
      200: {
        content: {
          'application/json': {
            schema: { properties: { items: { items: { $ref: '#/components/schemas/Call' } } } },
          },
          'text/event-stream': {},
        },
      },
    },
  });
});
