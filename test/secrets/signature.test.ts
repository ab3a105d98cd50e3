import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { callbackToken, isCallbackToken, signDelivery, verifyDelivery } from '../../src/secrets/signature';
import { SigningSecretError } from '../../src/secrets/signing-key';

const SECRET = `whsec_${Buffer.from('a key of 32 bytes for the tests.').toString('base64')}`;
const OTHER = 'any other text is used as raw bytes: é';
const NOW = new Date('2026-01-01T00:00:00.750Z');
const MINUTE = 60_000;
const body = JSON.stringify({ tool: 'payments.transfer', input: { note: 'Grüße 😀' } });

const received = (headers: ReturnType<typeof signDelivery>) => ({
  id: headers['webhook-id'],
  timestamp: headers['webhook-timestamp'],
  signature: headers['webhook-signature'],
});

const signed = (secrets: readonly [string, ...string[]] = [SECRET], timestamp = NOW) =>
  received(signDelivery({ id: 'dlv_1', timestamp, body, secrets }));

describe('signing', () => {
  test('the known vector of the Standard Webhooks libraries', () => {
    const vector = {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: new Date(1_614_265_330_000),
      body: '{"test": 2432232314}',
      secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    } as const;
    expect(signDelivery(vector)).toEqual({
      'webhook-id': vector.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
    expect(new Webhook(vector.secrets[0]).sign(vector.id, vector.timestamp, vector.body)).toBe(
      signDelivery(vector)['webhook-signature'],
    );
  });

  test('the library itself verifies a delivery, with whsec_ and with raw secrets', () => {
    const headers = signDelivery({ id: 'dlv_1', timestamp: new Date(), body, secrets: [SECRET, OTHER] });
    expect(new Webhook(SECRET).verify(body, headers)).toEqual(JSON.parse(body));
    expect(new Webhook(Buffer.from(OTHER), { format: 'raw' }).verify(body, headers)).toEqual(
      JSON.parse(body),
    );
    expect(() => new Webhook(Buffer.from('another'), { format: 'raw' }).verify(body, headers)).toThrow();
  });

  test('during a rotation there is one signature per secret and each verifies', () => {
    const headers = signed([SECRET, OTHER]);
    expect(headers.signature).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
    for (const secret of [SECRET, OTHER]) {
      expect(verifyDelivery({ headers, body, secrets: [secret], now: NOW })).toBe(true);
    }
    expect(verifyDelivery({ headers: signed([OTHER]), body, secrets: [SECRET, OTHER], now: NOW })).toBe(true);
  });

  test.each([
    ['whsec_', 'weak_secret'],
    [`whsec_${randomBytes(23).toString('base64')}`, 'weak_secret'],
    ['x'.repeat(23), 'weak_secret'],
    ['', 'weak_secret'],
    [`whsec_${'-_'.repeat(20)}`, 'malformed_secret'],
    [`whsec_${randomBytes(32).toString('base64')}\n`, 'malformed_secret'],
  ])('a secret that is no key signs nothing and verifies nothing: case %#', (secret, code) => {
    let caught: unknown;
    try {
      signDelivery({ id: 'dlv_1', timestamp: NOW, body, secrets: [SECRET, secret] });
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(SigningSecretError);
    expect(caught).toMatchObject({ code });
    expect(verifyDelivery({ headers: signed(), body, secrets: [secret], now: NOW })).toBe(false);
    expect(verifyDelivery({ headers: signed(), body, secrets: [secret, SECRET], now: NOW })).toBe(true);
  });

  test('24 bytes are enough, decoded or raw', () => {
    for (const secret of [`whsec_${randomBytes(24).toString('base64')}`, 'x'.repeat(24)]) {
      expect(verifyDelivery({ headers: signed([secret]), body, secrets: [secret], now: NOW })).toBe(true);
    }
  });

  test.each(['', 'dlv.1'])('an id that would blur what is signed is refused: %j', (id) => {
    expect(() => signDelivery({ id, timestamp: NOW, body, secrets: [SECRET] })).toThrow(RangeError);
  });
});

describe('verifying', () => {
  test.each([
    [0, true],
    [4 * MINUTE, true],
    [-4 * MINUTE, true],
    [6 * MINUTE, false],
    [-6 * MINUTE, false],
  ])('a clock that differs by %i ms: %s', (skew, verifies) => {
    const now = new Date(NOW.getTime() + skew);
    expect(verifyDelivery({ headers: signed(), body, secrets: [SECRET], now })).toBe(verifies);
  });

  test('an invalid clock verifies nothing', () => {
    expect(verifyDelivery({ headers: signed(), body, secrets: [SECRET], now: new Date(NaN) })).toBe(false);
  });

  test('a body as bytes and as text are the same body', () => {
    expect(verifyDelivery({ headers: signed(), body: Buffer.from(body), secrets: [SECRET], now: NOW })).toBe(
      true,
    );
  });

  test('any one byte of the body changed is noticed', () => {
    const bytes = Buffer.from(body);
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(bytes.readUInt8(index) ^ 1, index);
      expect(verifyDelivery({ headers: signed(), body: changed, secrets: [SECRET], now: NOW })).toBe(false);
    }
  });

  test('bytes that are not UTF-8 do not pass for the replacement character that was signed', () => {
    const headers = received(
      signDelivery({ id: 'dlv_1', timestamp: NOW, body: '"\ufffd"', secrets: [SECRET] }),
    );
    const damaged = Buffer.from([0x22, 0xff, 0x22]);
    expect(verifyDelivery({ headers, body: '"\ufffd"', secrets: [SECRET], now: NOW })).toBe(true);
    expect(verifyDelivery({ headers, body: damaged, secrets: [SECRET], now: NOW })).toBe(false);
  });

  test('the id and the time are signed too', () => {
    const headers = signed();
    const later = String(Number(headers.timestamp) + 1);
    expect(verifyDelivery({ headers: { ...headers, id: 'dlv_2' }, body, secrets: [SECRET], now: NOW })).toBe(
      false,
    );
    expect(
      verifyDelivery({ headers: { ...headers, timestamp: later }, body, secrets: [SECRET], now: NOW }),
    ).toBe(false);
  });

  test('what is signed cannot be cut in another place', () => {
    const headers = signed();
    const [first = '', ...rest] = body.split('.');
    const shifted = { ...headers, id: `${headers.id}.${headers.timestamp}`, timestamp: first };
    expect(verifyDelivery({ headers: shifted, body: rest.join('.'), secrets: [SECRET], now: NOW })).toBe(
      false,
    );
  });

  test('a matching signature is found among others, of other versions too', () => {
    const { signature, ...headers } = signed();
    const among = `v1a,xyz v2,${signature.slice(3)}  v1 v1, ${signature} garbage`;
    expect(
      verifyDelivery({ headers: { ...headers, signature: among }, body, secrets: [SECRET], now: NOW }),
    ).toBe(true);
  });

  test.each([
    ['another version', (signature: string) => signature.replace('v1,', 'v2,')],
    ['no version', (signature: string) => signature.slice(3)],
    ['a comma as separator', (signature: string) => `${signature},${signature}`],
    [
      'base64url',
      (signature: string) => signature.replaceAll('+', '-').replaceAll('/', '_').replace('=', ''),
    ],
    ['a part', (signature: string) => signature.slice(0, -1)],
    ['an addition', (signature: string) => `${signature}=`],
  ])('a signature written as %s verifies nothing', (_what, change) => {
    const { signature, ...headers } = signed();
    expect(
      verifyDelivery({
        headers: { ...headers, signature: change(signature) },
        body,
        secrets: [SECRET],
        now: NOW,
      }),
    ).toBe(false);
  });

  test.each([undefined, '', ' ', 'NaN', '1e9', '-1', '1767225600.5', ' 1767225600', '0x10', '9'.repeat(400)])(
    'a timestamp %j verifies nothing',
    (timestamp) => {
      expect(verifyDelivery({ headers: { ...signed(), timestamp }, body, secrets: [SECRET], now: NOW })).toBe(
        false,
      );
    },
  );

  test('no secrets verify nothing', () => {
    expect(verifyDelivery({ headers: signed(), body, secrets: [], now: NOW })).toBe(false);
  });

  test('garbage headers and secrets never throw and never verify', () => {
    const text = fc.option(
      fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('v1,', 'v1,=', ',', ' ')),
      {
        nil: undefined,
      },
    );
    fc.assert(
      fc.property(
        fc.record({ id: text, timestamp: fc.oneof(text, fc.constant(signed().timestamp)), signature: text }),
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.uint8Array().map((bytes) => Buffer.from(bytes)),
        ),
        fc.array(fc.oneof(fc.string(), fc.constant(SECRET), fc.constant('whsec_=')), { maxLength: 3 }),
        (headers, anyBody, secrets) => !verifyDelivery({ headers, body: anyBody, secrets, now: NOW }),
      ),
      { numRuns: 500 },
    );
  });
});

describe('callback tokens', () => {
  const key = randomBytes(32);

  test('a token is equal on every attempt, safe in a header, and of its key and delivery only', () => {
    const token = callbackToken(key, 'dlv_1');
    expect(token).toMatch(/^pct_[A-Za-z0-9_-]{43}$/);
    expect(callbackToken(Buffer.from(key), 'dlv_1')).toBe(token);
    expect(isCallbackToken(key, 'dlv_1', token)).toBe(true);
    expect(isCallbackToken(key, 'dlv_2', token)).toBe(false);
    expect(isCallbackToken(randomBytes(32), 'dlv_1', token)).toBe(false);
  });

  test.each([
    ['nothing', () => ''],
    ['the prefix', () => 'pct_'],
    ['no prefix', (token: string) => token.slice(4)],
    ['a part', (token: string) => token.slice(0, -1)],
    ['more', (token: string) => `${token}A`],
    ['another last character', (token: string) => `${token.slice(0, -1)}${token.endsWith('A') ? 'E' : 'A'}`],
    ['other case', (token: string) => token.toUpperCase()],
    ['text that is no ASCII', (token: string) => 'é'.repeat(token.length)],
  ])('%s is not a token', (_what, change) => {
    expect(isCallbackToken(key, 'dlv_1', change(callbackToken(key, 'dlv_1')))).toBe(false);
  });

  test('a key that can be guessed makes no token', () => {
    expect(() => callbackToken('', 'dlv_1')).toThrow(RangeError);
    expect(() => callbackToken('x'.repeat(23), 'dlv_1')).toThrow(RangeError);
    expect(callbackToken('x'.repeat(24), 'dlv_1')).toMatch(/^pct_/);
  });
});
