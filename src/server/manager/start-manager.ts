import type { Logger } from 'pino';
import { z } from 'zod';
import { secretBytes } from '../../coder/token';
import type { ManagerStore } from '../../store/manager/manager-store';
import { createHttpApp } from '../http/app';
import { listen, type Listening } from '../http/listen';
import { createIngress } from './ingress';
import { defineManagerRoute, type ManagerPrincipal, type ManagerScope } from './manager-route';
import { createTenantRoutes } from './tenant-routes';

export interface ManagerOptions {
  readonly store: ManagerStore;
  /** The URL that Coder is given, verbatim. */
  readonly audience: string;
  /** Newest first, each of at least 32 bytes. */
  readonly secrets: readonly string[];
  readonly issuer?: string;
  /** How Manager calls itself to Nexus. */
  readonly name: string;
  readonly budgetMs: number;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly log: Logger;
}

const LIMITS = {
  perKey: { windowMs: 60_000, limit: 6_000 },
  failedAuthentications: { windowMs: 60_000, limit: 1_000 },
};

/** Serves Manager: Coder's events, and the tenants that they belong to. */
export function startManager(options: ManagerOptions): Promise<Listening> {
  const { store, audience, secrets, issuer, name, budgetMs, host, port, log } = options;
  const app = createHttpApp<ManagerPrincipal, ManagerScope>({
    routes: [...createTenantRoutes(store), health],
    authenticate: async (token) => {
      const key = await store.keys.verify(token);
      return key === undefined ? undefined : { key };
    },
    hasScope: ({ key }) => key.scopes.includes('admin'),
    keyId: ({ key }) => key.id,
    limits: LIMITS,
    logger: log,
    mounts: [
      createIngress({
        ...{ store, audience, name, budgetMs, secrets: secrets.map(secretBytes) },
        ...(issuer !== undefined && { issuer }),
      }),
    ],
  });
  return listen(app, { host, port });
}

const health = defineManagerRoute({
  method: 'GET',
  path: '/healthz',
  operationId: 'readManagerHealth',
  summary: 'Whether the process lives',
  tags: ['service'],
  auth: 'none',
  responses: { 200: { description: 'It does', schema: z.strictObject({ status: z.literal('ok') }) } },
  handler: () => ({ status: 200, body: { status: 'ok' as const } }),
});
