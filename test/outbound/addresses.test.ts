import { createServer, type Server } from 'node:http';
import type { LookupAddress } from 'node:dns';
import type { AddressInfo } from 'node:net';
import { isForbiddenAddress, NOTHING_ALLOWED, parseAllowList } from '../../src/outbound/address-rules';
import type { LookUpAll } from '../../src/outbound/guarded-connect';
import { OutboundHttp, type OutboundReply } from '../../src/outbound/outbound-http';
import { urlFault } from '../../src/outbound/url-rules';

const FORBIDDEN = [
  '127.0.0.1',
  '127.255.255.254',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '168.63.129.16',
  '100.64.0.1',
  '100.100.100.200',
  '192.0.0.192',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '0.0.0.0',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:8.8.8.8',
  '64:ff9b::7f00:1',
  '64:ff9b:1::7f00:1',
  '2002:7f00:1::',
  '2001::1',
  'fe80::1',
  'fc00::1',
  'fd00:ec2::254',
  'ff02::1',
  '2001:db8::1',
  '3fff::1',
  '100::1',
  '200::1',
  '4000::1',
  '5f00::1',
  '8000::1',
  'e000::1',
  'fec0::1',
  '64:ff9b:2::1',
  '::ffff:0:7f00:1',
];

test.each(FORBIDDEN)('%s is no address that a profile may lead to', (address) => {
  expect(isForbiddenAddress(address)).toBe(true);
});

test.each(['8.8.8.8', '1.1.1.1', '93.184.216.34', '2606:4700::1111', '2a00:1450:4001:80b::200e'])(
  'the public address %s is',
  (address) => {
    expect(isForbiddenAddress(address)).toBe(false);
  },
);

test.each(['', 'localhost', '1.2.3', '8.8.8.8/8', '::g'])(
  '%j is no address at all, and forbidden',
  (text) => {
    expect(isForbiddenAddress(text)).toBe(true);
  },
);

const PRODUCTION = { development: false, allow: NOTHING_ALLOWED };

/** Every spelling of the same few places in a URL. */
const SPELLINGS = [
  ...FORBIDDEN.map((address) => (address.includes(':') ? `[${address}]` : address)),
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '127.1',
  '127.0.0.1.',
  '0x0a000001',
  '①②⑦.0.0.1',
  '[::ffff:169.254.169.254]',
  '[0:0:0:0:0:ffff:a9fe:a9fe]',
];

test.each(SPELLINGS)('https://%s is refused before anything is connected', async (host) => {
  expect(urlFault(`https://${host}/`, PRODUCTION)).toMatch(/private, local or reserved/);
  const http = new OutboundHttp({ rules: PRODUCTION });
  expect(await post(http, `https://${host}/`)).toMatchObject({ outcome: 'unreachable', code: 'url_refused' });
  await http.close();
});

test.each([
  ['http://hooks.example.com/', 'https'],
  ['http://localhost/', 'development mode'],
  ['ftp://hooks.example.com/', 'https'],
  ['https://user@hooks.example.com/', 'credentials'],
  ['https://user:pass@hooks.example.com/', 'credentials'],
  ['https://hooks.example.com/#part', 'fragment'],
  ['https://hooks.example.com/#', 'fragment'],
  ['https://hooks.example.com:22/', 'port 22'],
  ['https://hooks.example.com:6667/', 'port 6667'],
  ['/hook', 'absolute'],
  ['', 'absolute'],
])('the URL %j is refused, and the fault says why', (url, why) => {
  expect(urlFault(url, PRODUCTION)).toContain(why);
});

test('development accepts the own machine by its three names, and nothing else that is private', () => {
  const rules = { development: true, allow: NOTHING_ALLOWED };
  for (const url of [
    'http://localhost:8080/',
    'http://127.0.0.1/',
    'http://[::1]:3000/',
    'https://localhost/',
  ]) {
    expect(urlFault(url, rules)).toBeUndefined();
  }
  for (const url of [
    'http://10.0.0.1/',
    'http://127.0.0.2/',
    'http://hooks.local/',
    'https://10.0.0.1/',
    'https://127.0.0.2/',
  ]) {
    expect(urlFault(url, rules)).toBeDefined();
  }
});

/** Answers look-ups in turn, the last one for ever, and counts them. */
function namesAre(...turns: readonly (readonly string[])[]): { lookup: LookUpAll; count: () => number } {
  let asked = 0;
  const lookup: LookUpAll = (_, callback) => {
    const addresses = turns[Math.min(asked, turns.length - 1)] ?? [];
    asked += 1;
    callback(
      null,
      addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return { lookup, count: () => asked };
}

test.each(FORBIDDEN)('a name that leads to %s is refused when it is connected to', async (address) => {
  const { lookup } = namesAre([address]);
  const http = new OutboundHttp({ rules: PRODUCTION, lookup });
  expect(await post(http, 'https://hooks.example.com/')).toMatchObject({
    outcome: 'unreachable',
    code: 'address_refused',
  });
  await http.close();
});

test.each([[['8.8.8.8', '10.0.0.1']], [['10.0.0.1', '8.8.8.8']], [['2606:4700::1111', '::1', '8.8.8.8']]])(
  'a name with public and private addresses %j is refused whole',
  async (addresses) => {
    const { lookup } = namesAre(addresses);
    const http = new OutboundHttp({ rules: PRODUCTION, lookup });
    expect(await post(http, 'https://hooks.example.com/')).toMatchObject({ code: 'address_refused' });
    await http.close();
  },
);

describe('with a server on loopback', () => {
  let server: Server;
  let hits = 0;
  beforeAll(async () => {
    server = createServer((request, response) => {
      hits += 1;
      request.resume();
      response.setHeader('connection', request.url === '/close' ? 'close' : 'keep-alive').end('yes');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => server.close());
  const port = (): number => (server.address() as AddressInfo).port;

  test('a name that changes between two look-ups gains nothing: each connection goes to what was checked for it', async () => {
    const before = hits;
    const { lookup, count } = namesAre(['127.0.0.1'], ['10.0.0.1']);
    const http = new OutboundHttp({ rules: { development: true, allow: NOTHING_ALLOWED }, lookup });
    const url = `http://localhost:${port()}/close`;
    expect(await post(http, url)).toMatchObject({ kind: 'answer', status: 200 });
    expect(count()).toBe(1);
    expect(await post(http, url)).toMatchObject({ kind: 'failed', code: 'address_refused' });
    expect(count()).toBe(2);
    expect(hits - before).toBe(1);
    await http.close();
  });

  test('in development a name that is not the own machine’s may not lead there', async () => {
    const { lookup } = namesAre(['127.0.0.1']);
    const http = new OutboundHttp({ rules: { development: true, allow: NOTHING_ALLOWED }, lookup });
    expect(await post(http, `https://evil.example.com:${port()}/`)).toMatchObject({
      code: 'address_refused',
    });
    await http.close();
  });

  test('in development localhost may lead to the own machine only', async () => {
    const { lookup } = namesAre(['192.168.0.1']);
    const http = new OutboundHttp({ rules: { development: true, allow: NOTHING_ALLOWED }, lookup });
    expect(await post(http, `http://localhost:${port()}/`)).toMatchObject({ code: 'address_refused' });
    await http.close();
  });

  test.each([
    ['127.0.0.0/8', true],
    ['127.0.0.1', true],
    ['hooks.internal', true],
    ['HOOKS.internal', true],
    ['hooks.internal:PORT', true],
    ['hooks.internal:1', false],
    ['10.0.0.0/8', false],
    ['internal', false],
    ['::1', false],
  ])(
    'with %s on the operator’s list a name that leads to loopback is let through: %s',
    async (entry, allowed) => {
      const allow = parseAllowList(entry.replace('PORT', String(port())));
      const { lookup } = namesAre(['127.0.0.1']);
      const http = new OutboundHttp({ rules: { development: false, allow }, lookup });
      // TLS to a server that speaks none: reached, or refused before.
      const reply = await post(http, `https://hooks.internal:${port()}/`);
      expect(reply).toMatchObject({ kind: 'failed', code: allowed ? 'tls_failed' : 'address_refused' });
      await http.close();
    },
  );
});

test('an allow-list says which entry is wrong and what to write, and repeats none', () => {
  expect(() => parseAllowList('10.0.0.0/8, not a host!, hooks.internal')).toThrow(
    /^entry 2 is neither an address/,
  );
  for (const bad of [
    '10.0.0.0/33',
    '300.1.1.1',
    'https://hooks.internal',
    'hooks.internal:port',
    '*.internal',
    '1.2.3.4:80',
    'hooks.internal:0',
    'hooks.internal:65536',
    '10.1/16',
    '0x7f.1',
    'hooks.0x7f',
  ]) {
    expect(() => parseAllowList(bad)).toThrow(/^entry 1/);
  }
  expect(parseAllowList('').hosts.size).toBe(0);
});

function post(http: OutboundHttp, url: string): Promise<OutboundReply> {
  return http.send({ url, headers: {}, body: '{}', timeoutMs: 5_000, maxAnswerBytes: 1_000 });
}
