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

/**
 * All of IPv6 that is handed out for global unicast (RFC 4291 §2.4). ipaddr.js also calls unicast whatever it has no name
 * for, such as IPv4-compatible addresses (`::a.b.c.d`) and the blocks that are reserved for later.
 */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

export function isForbiddenAddress(ip: string): boolean {
  if (!isPlainAddress(ip)) return true;
  const address = ipaddr.parse(ip);
  if (address.range() !== 'unicast') return true;
  if (METADATA.includes(address.toString())) return true;
  return address.kind() === 'ipv6' && !address.match(GLOBAL_IPV6);
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

/** `URL` reads a host whose last label is a number as an IPv4 address, so no host name ends in one. */
const ENDS_IN_NUMBER = /(?:^|\.)(?:\d+|0x[0-9a-f]*)(?::\d+)?$/;

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
    if (isPlainRange(entry)) ranges.push(ipaddr.parseCIDR(entry));
    else if (isPlainAddress(entry)) {
      const address = ipaddr.parse(entry);
      ranges.push([address, address.kind() === 'ipv4' ? 32 : 128]);
    } else if (isHost(entry)) hosts.add(entry);
    else {
      throw new Error(
        `entry ${index + 1} is neither an address, a range such as 10.20.0.0/16, nor a host name such as hooks.internal or hooks.internal:8443`,
      );
    }
  });
  return { ranges, hosts };
}

/** ipaddr.js reads `10.1/16` as 10.0.0.1/16, which nobody means. */
function isPlainRange(entry: string): boolean {
  return ipaddr.isValidCIDR(entry) && isPlainAddress(entry.slice(0, entry.indexOf('/')));
}

function isHost(entry: string): boolean {
  if (!HOST.test(entry) || ENDS_IN_NUMBER.test(entry)) return false;
  const port = /:(\d+)$/.exec(entry)?.[1];
  return port === undefined || (Number(port) >= 1 && Number(port) <= 65_535);
}

function isPlainAddress(entry: string): boolean {
  return ipaddr.IPv6.isValid(entry) || ipaddr.IPv4.isValidFourPartDecimal(entry);
}
