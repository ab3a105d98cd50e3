import { headerValueFault } from '../domain/hook-url';
import type { ConfiguredHeaders } from '../domain/processor-schema';
import type { SecretReading, Secrets } from './secrets';

export type ResolvedHeaders =
  { readonly ok: true; readonly headers: Record<string, string> } | Extract<SecretReading, { ok: false }>;

/**
 * Headers as they are sent, with the values of the secrets that they name.
 * @param host where they go, as `URL.hostname` spells it
 */
export async function resolveHeaders(
  secrets: Secrets,
  { tenant, host, headers = {} }: { tenant: string; host: string; headers: ConfiguredHeaders | undefined },
): Promise<ResolvedHeaders> {
  const resolved: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') {
      resolved[name.toLowerCase()] = value;
      continue;
    }
    const reading = await secrets.values(tenant, value.secret, host);
    if (!reading.ok) return reading;
    const written = (value.prefix ?? '') + reading.values[0];
    if (headerValueFault(written) !== undefined) {
      return { ok: false, code: 'secret_unreadable', text: `The secret ${value.secret} cannot be a header.` };
    }
    resolved[name.toLowerCase()] = written;
  }
  return { ok: true, headers: resolved };
}
