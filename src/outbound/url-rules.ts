import { hookUrlFault, isLocalUrl } from '../domain/hook-url';
import {
  isAllowedAddress,
  isAllowedHost,
  isForbiddenAddress,
  withoutDot,
  type AllowList,
} from './address-rules';

/** What the operator allows beyond global addresses over TLS. */
export interface OutboundRules {
  /** Accepts the own machine as `localhost`, `127.0.0.1` and `[::1]`, without TLS too. */
  readonly development: boolean;
  readonly allow: AllowList;
}

/** Ports of other protocols, which could be spoken to in HTTP's words (WHATWG Fetch, "port blocking"). */
const BAD_PORTS = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/**
 * Says why an address is not asked, as far as its text shows that. `URL` has made one spelling of all numbers: decimal,
 * octal, hexadecimal and short forms of an IPv4 address come out dotted.
 */
export function urlFault(text: string, rules: OutboundRules): string | undefined {
  const fault = hookUrlFault(text);
  if (fault !== undefined) return fault;
  const url = new URL(text);
  const port = portOf(url);
  if (BAD_PORTS.has(port)) return `port ${port} belongs to another protocol`;
  if (isLocalUrl(url) && rules.development) return undefined;
  if (url.protocol !== 'https:')
    return 'the URL must be https: this service does not run in development mode';
  const literal = literalAddress(url.hostname);
  if (literal !== undefined && !mayConnect(url.hostname, port, [literal], rules)) {
    return 'the address is private, local or reserved; only the operator can allow it';
  }
  return undefined;
}

export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

/** The address that a host name is already, without brackets. */
export function literalAddress(hostname: string): string | undefined {
  const host = withoutDot(hostname);
  if (host.startsWith('[')) return host.slice(1, -1);
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(host) ? host : undefined;
}

const LOOPBACK = /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1)$/;
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]', '::1'];

/** Whether a host may be reached at these addresses: one that is forbidden forbids the host. */
export function mayConnect(
  hostname: string,
  port: number,
  addresses: readonly string[],
  { development, allow }: OutboundRules,
): boolean {
  if (isAllowedHost(allow, hostname, port)) return true;
  const isLocal = development && LOCAL_HOSTS.includes(hostname);
  return addresses.every(
    (address) =>
      !isForbiddenAddress(address) || isAllowedAddress(allow, address) || (isLocal && LOOPBACK.test(address)),
  );
}
