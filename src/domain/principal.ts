export const SCOPES = ['calls', 'waits:resolve', 'profiles', 'read', 'admin'] as const;

export type Scope = (typeof SCOPES)[number];

/** Who stands behind a message: the authenticated owner of a key, never a name taken from a body. */
export interface Principal {
  /** Two keys of one owner are one person. */
  readonly owner: string;
  readonly scopes: readonly Scope[];
}

/** Whoever signals a workflow from the Temporal UI or command line. */
export const TEMPORAL_OPERATOR: Principal = { owner: 'temporal-operator', scopes: [] };

/** A hook that answers its own delivery. No owner's name holds a colon, so no key passes for one. */
export function hookPrincipal(hookId: string): Principal {
  return { owner: `hook:${hookId}`, scopes: [] };
}

/** Whom the audit names when the service itself does something. */
export const SERVICE_OWNER = 'portcullis';

/** Owners that stand for the service itself or for Temporal's operators; no key may pass for them. */
export const RESERVED_OWNERS: readonly string[] = [TEMPORAL_OPERATOR.owner, SERVICE_OWNER];

/** `admin` includes every other scope. */
export function hasScope(principal: { readonly scopes: readonly Scope[] }, scope: Scope): boolean {
  return principal.scopes.includes(scope) || principal.scopes.includes('admin');
}

export const OWNER_PATTERN = /^[A-Za-z0-9._@+-]{1,128}$/;

const SCOPE_PREFIX = 'scope:';

/** Says what is wrong with an entry of `approvers`: an owner's name, or `scope:` and a scope. */
export function approverFault(approver: string): string | undefined {
  if (!approver.startsWith(SCOPE_PREFIX)) {
    return OWNER_PATTERN.test(approver)
      ? undefined
      : 'an approver is an owner ([A-Za-z0-9._@+-]{1,128}) or scope:<scope>';
  }
  const scope = approver.slice(SCOPE_PREFIX.length);
  return SCOPES.some((known) => known === scope)
    ? undefined
    : `scope:<scope> names one of ${SCOPES.join(', ')}`;
}

/** Whether one of the entries names this principal. Scopes count as held, `admin` does not stand in for others here. */
export function isApprover(approvers: readonly string[], principal: Principal): boolean {
  return approvers.some((approver) =>
    approver.startsWith(SCOPE_PREFIX)
      ? principal.scopes.some((scope) => SCOPE_PREFIX + scope === approver)
      : approver === principal.owner,
  );
}
