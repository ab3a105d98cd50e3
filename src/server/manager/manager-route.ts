import type { ApiKey } from '../../store/api-keys';
import { routeDefiner, type Route } from '../http/route';

export type ManagerScope = 'operator';

/** Who manages tenants. */
export interface ManagerPrincipal {
  readonly key: ApiKey;
}

export type ManagerRoute = Route<ManagerPrincipal, ManagerScope>;

export const defineManagerRoute = routeDefiner<ManagerPrincipal, ManagerScope>();
