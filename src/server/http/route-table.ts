import { Router, type RequestHandler } from 'express';
import { dispatch, type DispatchDependencies } from './dispatch';
import { exchangeOf } from './exchange';
import { compareTemplates, expressPath } from './path-template';
import { HttpProblem } from './problem';
import type { HttpMethod, Route } from './route';

const VERBS = {
  GET: 'get',
  POST: 'post',
  PUT: 'put',
  PATCH: 'patch',
  DELETE: 'delete',
} as const satisfies Record<HttpMethod, string>;

/**
 * One Express route per path, literal paths first: `/v1/waits/resolve` hides `/v1/waits/{id}` for every method.
 * @throws Error when two routes share an operation id, or a method and path
 */
export function routeTable<Principal, Scope extends string>(
  routes: readonly Route<Principal, Scope>[],
  dependencies: DispatchDependencies<Principal, Scope>,
): Router {
  assertUnique(routes.map((route) => route.operationId));
  assertUnique(routes.map((route) => `${route.method} ${route.path}`));
  const router = Router({ caseSensitive: true, strict: true });
  const paths = [...new Set(routes.map((route) => route.path))].toSorted(compareTemplates);
  for (const path of paths) {
    const here = routes.filter((route) => route.path === path);
    const served = router.route(expressPath(path));
    for (const route of here) served[VERBS[route.method]](dispatch(route, dependencies));
    served.all(
      refuseMethod(
        path,
        here.map((route) => route.method),
      ),
    );
  }
  return router;
}

function refuseMethod(path: string, methods: readonly HttpMethod[]): RequestHandler {
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].toSorted().join(', ');
  return (request) => {
    exchangeOf(request).route = path;
    throw new HttpProblem('method-not-allowed', { headers: { Allow: allow } });
  };
}

function assertUnique(names: readonly string[]): void {
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw new Error(`two routes are both ${repeated}`);
}
