import { isStoreOutage } from '../../store/outage';
import { HttpProblem } from '../http/problem';
import type { NexusRoute } from './define-route';

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
