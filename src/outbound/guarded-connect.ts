import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { literalAddress, mayConnect, type OutboundRules } from './url-rules';

/** All addresses of a name, as `dns.lookup` with `all` gives them. */
export type LookUpAll = (
  hostname: string,
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

/** The name leads to an address that may not be reached. The message does not say to which. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';

  constructor() {
    super('the address is private, local or reserved; only the operator can allow it');
  }
}

const systemLookup: LookUpAll = (hostname, callback) => {
  dnsLookup(hostname, { all: true, verbatim: true }, (error, addresses) =>
    callback(error, error ? [] : addresses),
  );
};

/**
 * How long a connection may take to come about, with TLS, in milliseconds. A request gives up by its own limit; this one
 * is for what the request leaves behind, and is not below the longest limit of a hook.
 */
const CONNECT_LIMIT_MS = 30_000;

/**
 * Connections that check where they lead. A name is looked up once per connection, all of its addresses are checked, and
 * the connection is made to one of those and to nothing else; so a name that changes between two look-ups gains nothing.
 * @param closing ends every connection, also one that has not come about: the agent itself does not end those
 */
export function guardedAgent(
  rules: OutboundRules,
  closing: AbortSignal,
  lookUp: LookUpAll = systemLookup,
): Agent {
  return new Agent({
    connect: (options, callback) => {
      const { hostname, port } = options;
      const portNumber = Number(port) || (options.protocol === 'https:' ? 443 : 80);
      const literal = literalAddress(hostname) ?? (hostname.includes(':') ? hostname : undefined);
      if (literal !== undefined && !mayConnect(hostname, portNumber, [literal], rules)) {
        callback(new AddressRefused(), null);
        return;
      }
      const connector = buildConnector({
        lookup: checkedLookup(portNumber, rules, lookUp),
        autoSelectFamily: true,
        timeout: CONNECT_LIMIT_MS,
        signal: closing,
      });
      connector(options, (error, socket) => {
        if (error !== null) {
          callback(error, null);
          return;
        }
        const reached = socket.remoteAddress;
        if (reached === undefined) {
          socket.destroy();
          callback(systemError('the connection was reset at once', 'ECONNRESET'), null);
          return;
        }
        if (!mayConnect(hostname, portNumber, [unmapped(reached)], rules)) {
          socket.destroy();
          callback(new AddressRefused(), null);
          return;
        }
        callback(null, socket);
      });
    },
  });
}

/** A look-up for sockets that passes only checked addresses on. */
function checkedLookup(port: number, rules: OutboundRules, lookUp: LookUpAll): LookupFunction {
  return (hostname, options, callback) => {
    lookUp(hostname, (error, addresses) => {
      if (error !== null) {
        callback(error, '');
        return;
      }
      const [first] = addresses;
      if (first === undefined) {
        callback(systemError('the name has no address', 'ENOTFOUND'), '');
        return;
      }
      const found = addresses.map(({ address }) => address);
      if (!mayConnect(hostname, port, found, rules)) {
        callback(new AddressRefused(), '');
        return;
      }
      if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

function systemError(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

/** A dual-stack socket spells the IPv4 address that it reached as a mapped one. */
function unmapped(address: string): string {
  return /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1] ?? address;
}
