import {
  ClientClosedError,
  ClientOfflineError,
  ConnectionTimeoutError,
  DisconnectsClientError,
  ErrorReply,
  SocketClosedUnexpectedlyError,
  SocketTimeoutError,
} from 'redis';
import { HttpProblem } from '../http/problem';
import type { NexusRoute } from './define-route';

const CONNECTION_LOST = [
  ClientClosedError,
  ClientOfflineError,
  ConnectionTimeoutError,
  DisconnectsClientError,
  SocketClosedUnexpectedlyError,
  SocketTimeoutError,
];

/** What a server says that is up and cannot serve now. */
const NOT_NOW = /^(LOADING|MASTERDOWN|MISCONF|NOREPLICAS|OOM|READONLY|BUSY|CLUSTERDOWN|TRYAGAIN)\b/;

/** Whether the tenant's store is away or takes no writes for now; such a request may be repeated. */
function isStoreOutage(error: unknown): boolean {
  if (error instanceof ErrorReply) return NOT_NOW.test(error.message);
  return CONNECTION_LOST.some((kind) => error instanceof kind);
}

/** An outage becomes the problem `unavailable`; anything else passes as it is. */
export function asUnavailable(error: unknown): unknown {
  if (!isStoreOutage(error)) return error;
  return new HttpProblem('unavailable', {
    detail: 'the store does not answer or takes no writes',
    headers: { 'Retry-After': '1' },
    cause: error,
  });
}

export function withOutages(route: NexusRoute): NexusRoute {
  return { ...route, handle: (input) => answering(() => route.handle(input)) };
}

/** Runs it and turns an outage of the store into the problem that says so. */
export async function answering<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw asUnavailable(error);
  }
}
