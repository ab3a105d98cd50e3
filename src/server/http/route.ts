import type { Logger } from 'pino';
import type { z } from 'zod';
import type { Answer, AnyAnswer, Responses } from './answer';
import { assertDropsNothing } from './closed-schema';
import { pathNames, type PathNames } from './path-template';
import type { ProblemCode } from './problem-types';

/**
 * A route is declared once. Validation, the handler's types, the Express route and the OpenAPI operation all come
 * from that declaration, so they cannot disagree. One request passes these stages in this order (`dispatch.ts`):
 *
 * R1  Nothing of the body is read before the key is accepted and its scopes suffice.
 * R2  Nothing of the body is parsed before its size, media type and encoding are accepted.
 * R3  The handler sees values that went through the declared schemas, and nothing else of the request. No member
 *     that was sent is dropped on the way: it arrives or it is refused.
 * R4  All faults of path, query, headers and body are answered together, unless the body is not JSON at all.
 * R5  What a handler returns is one of its declared responses (checked by the compiler); what it throws is a
 *     problem, and unless it is an `HttpProblem` it tells the caller nothing but the request id.
 * R6  A handler is told when its client goes (`request.signal`) and when the server begins to close
 *     (`request.closing`); it is never stopped by force.
 */

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Any one of the scopes suffices. `'none'`: no key is looked at. */
export type RouteAuth<Scope extends string> = 'none' | { readonly scopes: readonly [Scope, ...Scope[]] };

/** The handler takes the bytes as they came and judges them itself, for bodies that are signed or not JSON. */
export interface RawBody {
  readonly raw: true;
  readonly contentType: string;
  readonly description: string;
  /** For the document only. */
  readonly schema?: z.ZodType;
}

export type BodySpec = z.ZodType | RawBody;

export interface RouteRequest {
  readonly id: string;
  /** Aborted when the client disconnects before it has its answer. */
  readonly signal: AbortSignal;
  /** Aborted when the server begins to close: a long poll answers with what it has. */
  readonly closing: AbortSignal;
  readonly log: Logger;
  readonly address: string;
  /** A header that the route does not declare. */
  readonly header: (name: string) => string | undefined;
}

/** Members of the request's one log line. */
export type Annotations = Readonly<Partial<Record<'callId' | 'turnId' | 'workflowId' | 'tenant', string>>>;

export interface HandlerInput<Params, Query, Headers, Body, Principal> {
  readonly params: Params;
  readonly query: Query;
  readonly headers: Headers;
  readonly body: Body;
  readonly principal: Principal;
  readonly request: RouteRequest;
  readonly annotate: (annotations: Annotations) => void;
}

type ParamsOf<P, Path extends string> = P extends z.ZodType
  ? z.output<P>
  : Readonly<Record<PathNames<Path>, string>>;
type FieldsOf<S> = S extends z.ZodType ? z.output<S> : Readonly<Record<never, never>>;
type BodyOf<B> = B extends RawBody ? Buffer : B extends z.ZodType ? z.output<B> : undefined;

interface RouteFacts<Scope extends string> {
  readonly method: HttpMethod;
  /** OpenAPI notation: `/v1/threads/{threadId}`. */
  readonly path: `/${string}`;
  /** Unique over the app. */
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly auth: RouteAuth<Scope>;
  /** Bytes; default 1 MiB. */
  readonly bodyLimit?: number;
  readonly responses: Responses;
  /** Problems beyond those that every route can answer with; only for the document. */
  readonly problems?: readonly ProblemCode[];
}

interface RouteSpec<
  Principal,
  Scope extends string,
  Path extends `/${string}`,
  Auth extends RouteAuth<Scope>,
  Params extends z.ZodObject | undefined,
  Query extends z.ZodObject | undefined,
  Headers extends z.ZodObject | undefined,
  Body extends BodySpec | undefined,
  R extends Responses,
> extends RouteFacts<Scope> {
  readonly path: Path;
  readonly auth: Auth;
  /** Absent: every name of the path is a non-empty string. */
  readonly params?: Params;
  /** Absent: no query parameter is allowed. */
  readonly query?: Query;
  /** Keys in the spelling that the document shows; looked up without regard to case. Other headers are ignored. */
  readonly headers?: Headers;
  /** Absent: an empty body, or `{}`. Ignored for GET. */
  readonly body?: Body;
  readonly responses: R;
  readonly handler: (
    input: HandlerInput<
      ParamsOf<Params, Path>,
      FieldsOf<Query>,
      FieldsOf<Headers>,
      BodyOf<Body>,
      Auth extends 'none' ? undefined : Principal
    >,
  ) => Promise<Answer<R>> | Answer<R>;
}

/** A declared route whose types have done their work. */
export interface Route<Principal, Scope extends string> extends RouteFacts<Scope> {
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: BodySpec;
  readonly handle: (
    input: HandlerInput<unknown, unknown, unknown, unknown, Principal | undefined>,
  ) => Promise<AnyAnswer>;
}

/** `const defineRoute = routeDefiner<Principal, Scope>()`, once per app: the other types are inferred per route. */
export function routeDefiner<Principal, Scope extends string>() {
  return function defineRoute<
    const Path extends `/${string}`,
    const Auth extends RouteAuth<Scope>,
    const R extends Responses,
    Params extends z.ZodObject | undefined = undefined,
    Query extends z.ZodObject | undefined = undefined,
    Headers extends z.ZodObject | undefined = undefined,
    Body extends BodySpec | undefined = undefined,
  >(spec: RouteSpec<Principal, Scope, Path, Auth, Params, Query, Headers, Body, R>): Route<Principal, Scope> {
    const { handler, params, query, headers, body, ...facts } = spec;
    assertNamesEveryParameter(spec.path, params);
    if (body !== undefined && !isRawBody(body)) assertDropsNothing(body, spec.operationId);
    return {
      ...facts,
      ...(params === undefined ? {} : { params: params.strict() }),
      ...(query === undefined ? {} : { query: query.strict() }),
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : { body }),
      // R3 makes this cast true: the dispatcher ran the very schemas that the input's types come from.
      handle: async (input) => handler(input as Parameters<typeof handler>[0]),
    };
  };
}

export function isRawBody(body: BodySpec): body is RawBody {
  return 'raw' in body;
}

function assertNamesEveryParameter(path: string, params: z.ZodObject | undefined): void {
  if (params === undefined) return;
  const declared = Object.keys(params.shape).toSorted().join();
  if (declared !== pathNames(path).toSorted().join()) {
    throw new Error(`${path}: the params schema names {${declared}}, which are not the names of the path`);
  }
}
