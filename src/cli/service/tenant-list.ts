import { SettingsError } from './settings-error';

/** A tenant and where its data is. */
export interface TenantAddress {
  readonly tenant: string;
  /** `redis://` or `rediss://`, with the password if there is one. */
  readonly redisUrl: string;
}

const TENANT = /^[a-z0-9-]{1,40}$/;

/**
 * Reads `PORTCULLIS_TENANTS`: `acme=redis://…,beta=rediss://…`. A comma within a URL is written `%2C`.
 * @throws SettingsError with a sentence that says what to write; it never repeats the value, which holds passwords
 */
export function parseTenants(text: string): TenantAddress[] {
  const tenants = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map(parseTenant);
  if (tenants.length === 0)
    throw new SettingsError('PORTCULLIS_TENANTS names no tenant; write <tenant>=<redis-url>');
  const names = tenants.map(({ tenant }) => tenant);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new SettingsError(`PORTCULLIS_TENANTS names the tenant ${twice} twice`);
  return tenants;
}

function parseTenant(entry: string, index: number): TenantAddress {
  const equals = entry.indexOf('=');
  const tenant = entry.slice(0, Math.max(equals, 0));
  const redisUrl = entry.slice(equals + 1);
  if (!TENANT.test(tenant)) {
    throw new SettingsError(
      `entry ${index + 1} of PORTCULLIS_TENANTS is not <tenant>=<redis-url>; a tenant is 1-40 characters of a-z 0-9 -`,
    );
  }
  if (!isRedisUrl(redisUrl)) {
    throw new SettingsError(
      `the address of tenant ${tenant} in PORTCULLIS_TENANTS is not a redis:// or rediss:// URL`,
    );
  }
  return { tenant, redisUrl };
}

function isRedisUrl(text: string): boolean {
  return URL.canParse(text) && ['redis:', 'rediss:'].includes(new URL(text).protocol);
}
