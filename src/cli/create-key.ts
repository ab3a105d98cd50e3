import { OWNER_PATTERN, RESERVED_OWNERS, SCOPES, type Scope } from '../domain/principal';
import { openTenantStore } from '../store/tenant-store';
import { SettingsError } from './service/settings-error';
import { parseTenants } from './service/tenant-list';

export interface CreateKey {
  readonly tenant: string;
  readonly owner: string;
  /** Separated by commas. */
  readonly scopes: string;
}

/** Makes a key from the command line: the way to the first one where `portcullis up` has not made it. */
export async function createKey(env: NodeJS.ProcessEnv, wanted: CreateKey): Promise<string> {
  const tenants = parseTenants(env['PORTCULLIS_TENANTS'] ?? '');
  const address = tenants.find(({ tenant }) => tenant === wanted.tenant);
  if (address === undefined) {
    throw new SettingsError(
      `PORTCULLIS_TENANTS does not name the tenant ${wanted.tenant}; it names ${names(tenants)}`,
    );
  }
  if (!OWNER_PATTERN.test(wanted.owner))
    throw new SettingsError('an owner is 1-128 characters of A-Z a-z 0-9 . _ @ + -');
  if (RESERVED_OWNERS.includes(wanted.owner))
    throw new SettingsError(`the owner ${wanted.owner} is reserved`);
  const scopes = wanted.scopes.split(',').map(parseScope);
  const store = await openTenantStore({
    tenant: address.tenant,
    url: address.redisUrl,
    onError: () => undefined,
  });
  try {
    const createdAt = new Date().toISOString();
    return (await store.apiKeys.create({ owner: wanted.owner, scopes, createdAt })).token;
  } finally {
    await store.close();
  }
}

function parseScope(text: string): Scope {
  const scope = SCOPES.find((known) => known === text.trim());
  if (scope === undefined)
    throw new SettingsError(`"${text}" is not a scope; the scopes are ${SCOPES.join(', ')}`);
  return scope;
}

function names(tenants: readonly { tenant: string }[]): string {
  return tenants.map(({ tenant }) => tenant).join(', ');
}
