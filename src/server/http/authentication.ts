import type { IncomingMessage } from 'node:http';
import { HttpProblem } from './problem';

export type Authenticate<Principal> = (token: string) => Promise<Principal | undefined>;

/** b64token of RFC 6750 §2.1; the scheme is compared without regard to case (RFC 9110 §11.1). */
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

export function bearerToken(request: IncomingMessage): string | undefined {
  return BEARER.exec(request.headers.authorization ?? '')?.[1];
}

/** The one answer to a key that is missing, malformed, unknown or revoked: nobody learns which. */
export function unauthenticated(): HttpProblem {
  return new HttpProblem('unauthenticated', { headers: { 'WWW-Authenticate': 'Bearer' } });
}

/** @throws HttpProblem forbidden */
export function requireAnyScope<Principal, Scope extends string>(
  principal: Principal,
  scopes: readonly Scope[],
  hasScope: (principal: Principal, scope: Scope) => boolean,
): void {
  if (scopes.some((scope) => hasScope(principal, scope))) return;
  throw new HttpProblem('forbidden', {
    detail: `the key needs the scope ${scopes.join(' or ')}`,
    extensions: { neededScopes: scopes },
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"` },
  });
}
