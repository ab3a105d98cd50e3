import type { Scope } from '../../domain/principal';
import { routeDefiner, type Route } from '../http/route';
import type { NexusPrincipal } from './nexus-principal';

export type NexusRoute = Route<NexusPrincipal, Scope>;

export const defineRoute = routeDefiner<NexusPrincipal, Scope>();
