import type { Request, RequestHandler } from 'express';
import type { Admit } from './admission';
import { exchangeOf, type Exchange } from './exchange';
import { readInput } from './request-input';
import type { Annotations, Route, RouteRequest } from './route';
import { sendAnswer } from './send-answer';

export interface DispatchDependencies<Principal, Scope extends string> {
  readonly admit: Admit<Principal, Scope>;
  readonly closing: AbortSignal;
  readonly describePrincipal?: (principal: Principal) => Annotations;
}

/** One request through one route: admission, input, handler, answer (R1 to R6 in `route.ts`). */
export function dispatch<Principal, Scope extends string>(
  route: Route<Principal, Scope>,
  { admit, closing, describePrincipal }: DispatchDependencies<Principal, Scope>,
): RequestHandler {
  return async (request, response) => {
    const exchange = exchangeOf(request);
    const annotate = (annotations: Annotations): void => {
      exchange.annotations = { ...exchange.annotations, ...annotations };
    };
    exchange.route = route.path;
    const principal = await admit(request, response, route.auth);
    if (principal !== undefined && describePrincipal !== undefined) annotate(describePrincipal(principal));
    const input = await readInput(route, request);
    const answer = await route.handle({
      ...input,
      principal,
      annotate,
      request: routeRequest(request, exchange, closing),
    });
    await sendAnswer(request, response, answer, closing);
  };
}

function routeRequest(request: Request, exchange: Exchange, closing: AbortSignal): RouteRequest {
  return {
    id: exchange.requestId,
    signal: exchange.gone,
    closing,
    log: request.log,
    address: request.ip ?? '',
    header: (name) => request.get(name),
  };
}
