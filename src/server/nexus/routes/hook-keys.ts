import { z } from 'zod';
import { MIN_SECRET_BYTES, secretBytes } from '../../../coder/token';
import { HttpProblem } from '../../http/problem';
import { defineRoute, type NexusRoute } from '../define-route';
import { requireWholeTenant } from '../profile-access';

export function createHookKeyRoutes(): NexusRoute[] {
  return [installHookKey, retireHookKey];
}

const generation = z
  .string()
  .regex(/^[1-9]\d{0,8}$/, 'a generation is a number from 1')
  .transform(Number)
  .meta({ type: 'integer', description: 'Grows by one with each new key.' });

const installHookKey = defineRoute({
  method: 'PUT',
  path: '/v1/hook-keys/{generation}',
  operationId: 'installHookKey',
  summary: 'Install a key with which Manager signs',
  description:
    'The newest installed key and the one before it are accepted. A generation has one secret for good.',
  tags: ['coder'],
  auth: { scopes: ['admin'] },
  params: z.object({ generation }),
  body: z.strictObject({
    secret: z
      .string()
      .max(1_024)
      .refine(
        (secret) => secretBytes(secret).length >= MIN_SECRET_BYTES,
        `at least ${MIN_SECRET_BYTES} bytes`,
      ),
  }),
  problems: ['conflict'],
  responses: { 200: { description: 'Installed', schema: z.strictObject({ generation: z.int() }) } },
  handler: async ({ params, body, principal }) => {
    requireWholeTenant(principal);
    const key = { generation: params.generation, secret: body.secret, installedAt: new Date().toISOString() };
    if ((await principal.store.hookKeys.install(key)) === 'other_secret') {
      throw new HttpProblem('conflict', { detail: 'this generation has another secret; use the next one' });
    }
    return { status: 200, body: { generation: params.generation } };
  },
});

const retireHookKey = defineRoute({
  method: 'DELETE',
  path: '/v1/hook-keys/{generation}',
  operationId: 'retireHookKey',
  summary: 'Retire a key with which Manager signed',
  tags: ['coder'],
  auth: { scopes: ['admin'] },
  params: z.object({ generation }),
  responses: { 204: { description: 'It opens nothing any more' } },
  handler: async ({ params, principal }) => {
    requireWholeTenant(principal);
    if (!(await principal.store.hookKeys.retire(params.generation))) throw new HttpProblem('not-found');
    return { status: 204 };
  },
});
