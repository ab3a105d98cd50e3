import type { Request } from 'express';
import { z } from 'zod';
import { announcesBody, readBytes } from './body-bytes';
import { requireIdentityEncoding, requireJsonMediaType } from './content-type';
import { faultsProblem, type Fault } from './fault';
import { parseJson } from './json-body';
import { lostMembers } from './lost-members';
import { HttpProblem } from './problem';
import { readQuery } from './query-string';
import { isRawBody, type BodySpec, type Route } from './route';
import { checkAgainst, type Checked } from './zod-faults';

const DEFAULT_BODY_LIMIT = 1_048_576;

/** A route without a declared body takes none, or the empty object that many clients send instead. */
const NO_BODY = z.strictObject({}).optional();

interface RequestInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: unknown;
}

/** The request as its route declares it. @throws HttpProblem with all faults of all parts (R4) */
export async function readInput<P, S extends string>(
  route: Route<P, S>,
  request: Request,
): Promise<RequestInput> {
  const params =
    route.params === undefined
      ? { value: request.params }
      : checkAgainst(route.params, request.params, 'path');
  const query = checkQuery(route.query ?? z.strictObject({}), request);
  const headers = route.headers === undefined ? { value: {} } : checkHeaders(route.headers, request);
  const body = await checkBody(route, request);
  const faults: Fault[] = [params, query, headers, body].flatMap((part) => part.faults ?? []);
  if (faults.length > 0) throw faultsProblem(faults);
  return { params: valueOf(params), query: valueOf(query), headers: valueOf(headers), body: valueOf(body) };
}

function valueOf(part: Checked<unknown>): unknown {
  return part.faults === undefined ? part.value : undefined;
}

function checkQuery(schema: z.ZodObject, request: Request): Checked<unknown> {
  const mark = request.url.indexOf('?');
  const { texts, faults } = readQuery(mark === -1 ? '' : request.url.slice(mark + 1), schema.shape);
  const checked = checkAgainst(schema, texts, 'query');
  return faults.length === 0 ? checked : { faults: [...faults, ...(checked.faults ?? [])] };
}

function checkHeaders(schema: z.ZodObject, request: Request): Checked<unknown> {
  const named = Object.keys(schema.shape).map((name) => [name, request.headers[name.toLowerCase()]] as const);
  return checkAgainst(schema, Object.fromEntries(named.filter(([, value]) => value !== undefined)), 'header');
}

async function checkBody<P, S extends string>(
  route: Route<P, S>,
  request: Request,
): Promise<Checked<unknown>> {
  if (route.method === 'GET') return { value: undefined };
  const spec: BodySpec = route.body ?? NO_BODY;
  const limit = route.bodyLimit ?? DEFAULT_BODY_LIMIT;
  requireIdentityEncoding(request);
  if (isRawBody(spec)) return { value: await readBytes(request, limit) };
  if (announcesBody(request) && route.body !== undefined) requireJsonMediaType(request);
  const bytes = await readBytes(request, limit);
  if (bytes.length > 0) {
    requireJsonMediaType(request);
    return checkJson(spec, parseJson(bytes));
  }
  if (!spec.safeParse(undefined).success) throw new HttpProblem('body-required');
  return checkJson(spec, undefined);
}

function checkJson(schema: z.ZodType, sent: unknown): Checked<unknown> {
  const checked = checkAgainst(schema, sent, 'body');
  if (checked.faults !== undefined) return checked;
  const lost = lostMembers(sent, checked.value);
  if (lost.length === 0) return checked;
  return {
    faults: lost.map((pointer) => ({
      in: 'body',
      pointer,
      detail: 'a member of this name is not kept here',
    })),
  };
}
