import { isIP } from 'node:net';

/**
 * Which hosts a secret may be sent to: `hooks.example.com` is that host, `*.example.com` every host below
 * `example.com` at any depth, and not `example.com` itself. Case and one trailing dot do not count. Ports do not
 * belong to a host: a pattern covers all of them.
 */
export function hostMatches(pattern: string, host: string): boolean {
  const wanted = plain(pattern);
  const actual = plain(host);
  if (!wanted.startsWith('*.')) return actual === wanted;
  const suffix = wanted.slice(1);
  return actual.endsWith(suffix) && actual.length > suffix.length;
}

/**
 * A pattern must spell its host as `URL.hostname` does (lower or upper case, punycode, IPv6 in brackets), else it
 * would never match. @returns what is wrong, without repeating the pattern
 */
export function hostPatternFault(pattern: string): string | undefined {
  const wildcard = pattern.startsWith('*.');
  const host = plain(wildcard ? pattern.slice(2) : pattern);
  if (host.includes('*') || !isCanonicalHost(host)) {
    return 'write a host name, or *. and a host name; without scheme, port or path, and other scripts in punycode';
  }
  if (wildcard && (isIP(host) !== 0 || host.startsWith('['))) return 'an IP address has no hosts below it';
  return undefined;
}

function plain(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}

function isCanonicalHost(host: string): boolean {
  const url = `https://${host}`;
  return host !== '' && !host.startsWith('.') && URL.canParse(url) && new URL(url).hostname === host;
}
