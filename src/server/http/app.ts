import express, { type Express, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import { createAdmission, type AdmissionOptions, type Admit } from './admission';
import { answerProblem } from './answer-problem';
import { closingOf } from './closing';
import { exchangeOf, openExchange } from './exchange';
import { HttpProblem } from './problem';
import { REQUEST_ID_HEADER, requestIdOf } from './request-id';
import { requestLog } from './request-log';
import type { Annotations, Route } from './route';
import { routeTable } from './route-table';
import { securityHeaders } from './security-headers';

/** A part of the app that speaks for itself, such as the handler of a protocol's SDK. It does its own admission. */
export interface Mount<Principal, Scope extends string> {
  readonly path: `/${string}`;
  readonly handler: (given: {
    readonly admit: Admit<Principal, Scope>;
    /** Aborted when the server begins to close. */
    readonly closing: AbortSignal;
  }) => RequestHandler;
}

export interface HttpAppOptions<Principal, Scope extends string> extends AdmissionOptions<Principal, Scope> {
  readonly routes: readonly Route<Principal, Scope>[];
  readonly logger: Logger;
  /** Put on the request's log line once the key is accepted, such as the tenant. */
  readonly describePrincipal?: (principal: Principal) => Annotations;
  /** Proxies whose X-Forwarded-For is believed, in Express' notation. Default: none. */
  readonly trustProxy?: string | number | readonly string[];
  readonly mounts?: readonly Mount<Principal, Scope>[];
}

/** The app, to be given to `listen`. Making it starts nothing that would keep the process alive. */
export function createHttpApp<Principal, Scope extends string>(
  options: HttpAppOptions<Principal, Scope>,
): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', false);
  // Express' last resort, should even `answerProblem` throw, then shows no stack.
  app.set('env', 'production');
  if (options.trustProxy !== undefined) app.set('trust proxy', options.trustProxy);
  app.use(openRequest, requestLog(options.logger), securityHeaders);
  const admit = createAdmission(options);
  const { describePrincipal } = options;
  const dependencies = { admit, closing: closingOf(app).signal };
  app.use(
    routeTable(
      options.routes,
      describePrincipal === undefined ? dependencies : { ...dependencies, describePrincipal },
    ),
  );
  const { closing } = dependencies;
  for (const { path, handler } of options.mounts ?? [])
    app.use(path, named(path), handler({ admit, closing }));
  app.use(() => {
    throw new HttpProblem('not-found');
  });
  // The second answers for the first, should a problem's own headers be unsendable.
  app.use(answerProblem, answerProblem);
  return app;
}

const openRequest: RequestHandler = (request, response, next) => {
  const requestId = requestIdOf(request);
  response.set(REQUEST_ID_HEADER, requestId);
  openExchange(request, response, requestId);
  next();
};

function named(path: string): RequestHandler {
  return (request, _response, next) => {
    exchangeOf(request).route = path;
    next();
  };
}
