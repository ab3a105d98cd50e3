import type { Request } from 'express';
import { ipKeyGenerator, MemoryStore, type Options } from 'express-rate-limit';
import { HttpProblem } from './problem';

export interface FailedAuthenticationLimitOptions {
  readonly windowMs: number;
  /** Failures per address and window; IPv6 addresses count by their /56. */
  readonly limit: number;
}

interface FailedAuthenticationLimit {
  /** @throws HttpProblem rate-limited, with Retry-After, before any key of this address is looked at */
  admit(request: Request): Promise<void>;
  count(request: Request): Promise<void>;
}

/**
 * Only failures count. A limiter that counts each request first and takes it back at the end would hold every
 * long poll of an honest client against its address.
 */
export function createFailedAuthenticationLimit(
  options: FailedAuthenticationLimitOptions,
): FailedAuthenticationLimit {
  const failures = new MemoryStore();
  // The store reads the window and nothing else of the options of a limiter.
  failures.init({ windowMs: options.windowMs } as Options);
  return {
    async admit(request) {
      const seen = await failures.get(addressOf(request));
      if (seen === undefined || seen.totalHits < options.limit) return;
      const waitMs = (seen.resetTime?.getTime() ?? Date.now() + options.windowMs) - Date.now();
      if (waitMs <= 0) return;
      throw new HttpProblem('rate-limited', {
        detail: 'too many failed authentications from this address',
        headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) },
      });
    },
    async count(request) {
      await failures.increment(addressOf(request));
    },
  };
}

function addressOf(request: Request): string {
  return ipKeyGenerator(request.ip ?? '0.0.0.0');
}
