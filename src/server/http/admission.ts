import type { Request, Response } from 'express';
import { bearerToken, requireAnyScope, unauthenticated, type Authenticate } from './authentication';
import {
  createFailedAuthenticationLimit,
  type FailedAuthenticationLimitOptions,
} from './failed-authentication-limit';
import { createKeyLimit, type KeyLimitOptions } from './key-limit';
import type { RouteAuth } from './route';

export interface AdmissionOptions<Principal, Scope extends string> {
  readonly authenticate: Authenticate<Principal>;
  readonly hasScope: (principal: Principal, scope: Scope) => boolean;
  /** Names the key in the rate limit. */
  readonly keyId: (principal: Principal) => string;
  readonly limits: {
    readonly perKey: KeyLimitOptions;
    readonly failedAuthentications: FailedAuthenticationLimitOptions;
  };
}

/** Lets a request in, or throws the problem that keeps it out. */
export type Admit<Principal, Scope extends string> = (
  request: Request,
  response: Response,
  auth: RouteAuth<Scope>,
) => Promise<Principal | undefined>;

export function createAdmission<Principal, Scope extends string>(
  options: AdmissionOptions<Principal, Scope>,
): Admit<Principal, Scope> {
  const countForKey = createKeyLimit(options.limits.perKey);
  const failed = createFailedAuthenticationLimit(options.limits.failedAuthentications);
  return async (request, response, auth) => {
    if (auth === 'none') return undefined;
    await failed.admit(request);
    const token = bearerToken(request);
    const principal = token === undefined ? undefined : await options.authenticate(token);
    if (principal === undefined) {
      await failed.count(request);
      throw unauthenticated();
    }
    await countForKey(request, response, options.keyId(principal));
    requireAnyScope(principal, auth.scopes, options.hasScope);
    return principal;
  };
}
