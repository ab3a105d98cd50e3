import type { Express } from 'express';
import type { Logger } from 'pino';
import { DEFAULT_HOOKS, type DefaultHookSet } from '../../domain/default-hooks';
import { hasScope, type Scope } from '../../domain/principal';
import type { TenantStores } from '../../store/tenant-stores';
import { createHttpApp, type HttpAppOptions, type Mount } from '../http/app';
import { createAuthenticate } from './authenticate';
import type { NexusRoute } from './define-route';
import type { NexusPrincipal } from './nexus-principal';
import { answering, withOutages } from './outage';
import { createAuditRoutes } from './routes/audit';
import { createDefaultHookRoutes } from './routes/default-hooks';
import { createHealthRoutes, type ReadinessCheck } from './routes/health';
import { createHookKeyRoutes } from './routes/hook-keys';
import { createKeyRoutes } from './routes/keys';
import { createOpenApiRoute } from './routes/openapi';
import { createProfileChangeRoutes } from './routes/profile-changes';
import { createProfileRoutes } from './routes/profiles';
import { createSettingsRoutes } from './routes/settings';
import { createThreadEventRoutes } from './routes/thread-events';
import { createThreadRoutes } from './routes/threads';
import { createWaitRoutes } from './routes/waits';

type Limits = HttpAppOptions<NexusPrincipal, Scope>['limits'];

/** Generous: these stop a runaway client or a guesser, not a busy one. */
const DEFAULT_LIMITS: Limits = {
  perKey: { windowMs: 60_000, limit: 60_000 },
  failedAuthentications: { windowMs: 60_000, limit: 1_000 },
};

export interface NexusAppOptions {
  readonly stores: TenantStores;
  /** Routes that need more than the stores, such as those of tool calls. */
  readonly extraRoutes: readonly NexusRoute[];
  readonly logger: Logger;
  /** Accepts hooks at `http://localhost`. */
  readonly development: boolean;
  /** Asked by `/readyz`. */
  readonly checks: readonly ReadinessCheck[];
  readonly limits?: Limits;
  /** Installed in new profiles. Default: the set of this version. */
  readonly defaultHooks?: DefaultHookSet;
  readonly trustProxy?: HttpAppOptions<NexusPrincipal, Scope>['trustProxy'];
  readonly mounts?: readonly Mount<NexusPrincipal, Scope>[];
}

export function createNexusApp(options: NexusAppOptions): Express {
  const { stores, extraRoutes, logger, checks, development, trustProxy, mounts } = options;
  const defaultHooks = options.defaultHooks ?? DEFAULT_HOOKS;
  const routes = [
    ...createProfileRoutes({ defaultHooks, development }),
    ...createProfileChangeRoutes({ development }),
    ...createDefaultHookRoutes({ defaultHooks }),
    ...createKeyRoutes(),
    ...createSettingsRoutes(),
    ...createHookKeyRoutes(),
    ...createThreadRoutes(),
    ...createThreadEventRoutes(),
    ...createWaitRoutes(),
    ...createAuditRoutes(),
    ...createHealthRoutes({ checks }),
    ...extraRoutes,
  ];
  const authenticate = createAuthenticate(stores);
  return createHttpApp<NexusPrincipal, Scope>({
    routes: [...routes, createOpenApiRoute(routes)].map(withOutages),
    authenticate: (token) => answering(() => authenticate(token)),
    hasScope: ({ key }, scope) => hasScope(key, scope),
    keyId: ({ tenant, key }) => `${tenant}:${key.id}`,
    describePrincipal: ({ tenant }) => ({ tenant }),
    limits: options.limits ?? DEFAULT_LIMITS,
    logger,
    ...(trustProxy !== undefined && { trustProxy }),
    ...(mounts !== undefined && { mounts }),
  });
}
