import ipaddr from 'ipaddr.js';

/**
 * Which addresses may be reached at the word of a profile. Only global unicast ones are; whatever embeds another address
 * (IPv4-mapped, NAT64, 6to4, Teredo, IPv4-compatible) is refused with all of its kind. The operator allows more.
 */
export interface AllowList {
  readonly ranges: readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];
  /** Lower case, with `:port` where the entry has one. */
  readonly hosts: ReadonlySet<string>;
}

export const NOTHING_ALLOWED: AllowList = { ranges: [], hosts: new Set() };

/** Metadata services in unicast space; the well-known link-local ones are refused with their range. */
const METADATA = ['168.63.129.16'];

/** Local-use NAT64 (RFC 8215) and IPv4-compatible addresses (RFC 4291 §2.5.5.1), which ipaddr.js takes for unicast. */
const EMBEDDING = ['64:ff9b:1::/48', '::/96'].map((cidr) => ipaddr.parseCIDR(cidr));

export function isForbiddenAddress(ip: string): boolean {
  if (!isPlainAddress(ip)) return true;
  const address = ipaddr.parse(ip);
  if (address.range() !== 'unicast') return true;
  if (METADATA.includes(address.toString())) return true;
  return EMBEDDING.some((cidr) => address.kind() === cidr[0].kind() && address.match(cidr));
}

export function isAllowedAddress({ ranges }: AllowList, ip: string): boolean {
  if (!isPlainAddress(ip)) return false;
  const address = ipaddr.process(ip);
  return ranges.some((range) => address.kind() === range[0].kind() && address.match(range));
}

/** @param host as `URL.hostname` spells it; @param port as a number, defaults included */
export function isAllowedHost({ hosts }: AllowList, host: string, port: number): boolean {
  const name = withoutDot(host.toLowerCase());
  return hosts.has(name) || hosts.has(`${name}:${port}`);
}

export function withoutDot(host: string): string {
  return host.endsWith('.') ? host.slice(0, -1) : host;
}

const HOST =
  /^(?=.{1,253}(?::\d{1,5})?$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*(?::\d{1,5})?$/;

/**
 * Reads `10.20.0.0/16, 192.0.2.7, hooks.internal, hooks.internal:8443`.
 * @throws Error that says which entry is wrong and what to write
 */
export function parseAllowList(text: string): AllowList {
  const ranges: [ipaddr.IPv4 | ipaddr.IPv6, number][] = [];
  const hosts = new Set<string>();
  const entries = text.split(',').map((entry) => entry.trim().toLowerCase());
  entries.forEach((entry, index) => {
    if (entry === '') return;
    if (ipaddr.isValidCIDR(entry)) ranges.push(ipaddr.parseCIDR(entry));
    else if (isPlainAddress(entry)) {
      const address = ipaddr.parse(entry);
      ranges.push([address, address.kind() === 'ipv4' ? 32 : 128]);
    } else if (HOST.test(entry) && !/^[\d.:]+$/.test(entry)) hosts.add(entry);
    else {
      throw new Error(
        `entry ${index + 1} is neither an address, a range such as 10.20.0.0/16, nor a host name such as hooks.internal or hooks.internal:8443`,
      );
    }
  });
  return { ranges, hosts };
}

function isPlainAddress(entry: string): boolean {
  return ipaddr.IPv6.isValid(entry) || ipaddr.IPv4.isValidFourPartDecimal(entry);
}
