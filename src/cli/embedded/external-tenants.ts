import { StartError } from './start-error';

export interface ExternalTenants {
  readonly kind: 'external';
  /** As it was given: `name=redis-url,…`. Holds passwords. */
  readonly tenants: string;
  /** Of the tenant `local`, else of the first. */
  readonly redisUrl: string;
}

/** A comma starts the next tenant only before a name, since URLs may hold commas. */
const BETWEEN_TENANTS = /,(?=[a-z0-9-]+=)/;
const TENANT = /^([a-z0-9-]{1,40})=(rediss?:\/\/.+)$/;

/** The tenants which the environment names, if it names some. Throws `StartError` `bad_setting`, without a password in its text. */
export function externalTenants(env: NodeJS.ProcessEnv): ExternalTenants | undefined {
  const tenants = (env['PORTCULLIS_TENANTS'] ?? '').trim();
  if (tenants === '') return undefined;
  const urls = new Map<string, string>();
  for (const [index, entry] of tenants.split(BETWEEN_TENANTS).entries()) {
    const [, name, url] = TENANT.exec(entry.trim()) ?? [];
    if (name === undefined || url === undefined || !URL.canParse(url) || urls.has(name))
      throw new StartError(
        'bad_setting',
        `PORTCULLIS_TENANTS: entry ${index + 1} is not name=redis-url with a new name of a-z, 0-9 and "-" (at most 40 characters).`,
      );
    urls.set(name, url);
  }
  const [first = ''] = urls.values();
  return { kind: 'external', tenants, redisUrl: urls.get('local') ?? first };
}
