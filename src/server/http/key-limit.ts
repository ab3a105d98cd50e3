import type { Request, Response } from 'express';
import { rateLimit, type Store } from 'express-rate-limit';
import { HttpProblem } from './problem';

export interface KeyLimitOptions {
  readonly windowMs: number;
  /** Requests per key and window. */
  readonly limit: number;
  /** Absent: counted in this process alone. */
  readonly store?: Store;
}

/** Counts a request for its key. @throws HttpProblem rate-limited, with Retry-After */
type CountForKey = (request: Request, response: Response, keyId: string) => Promise<void>;

export function createKeyLimit({ windowMs, limit, store }: KeyLimitOptions): CountForKey {
  const keyIds = new WeakMap<Request, string>();
  const limiter = rateLimit({
    windowMs,
    limit,
    ...(store === undefined ? {} : { store }),
    standardHeaders: 'draft-6',
    legacyHeaders: false,
    keyGenerator: (request) => keyIds.get(request) ?? '',
    // The limiter sets Retry-After before it calls this.
    handler: (_request, _response, next) => next(new HttpProblem('rate-limited')),
  });
  return (request, response, keyId) => {
    keyIds.set(request, keyId);
    return new Promise((resolve, reject) => {
      const next = (problem?: unknown): void => {
        if (problem === undefined) resolve();
        else reject(problem instanceof Error ? problem : new Error('the rate limiter failed'));
      };
      void limiter(request, response, next);
    });
  };
}
