import { readToken, secretBytes } from '../../src/coder/token';
import { readBody } from '../../src/coder/verify-body';
import { AUDIENCE, NOW, SECRET, signed, type Spoiled } from './fixture';
import { requestTable } from './request-table';

const OLD_SECRET = 'the-old-secret-that-is-still-accepted-for-now';

/** What a request is answered, as far as its token and its body decide it. */
async function statusOf(spoiled: Spoiled, { now = NOW, issuer }: { now?: number; issuer?: string } = {}) {
  const { authorization, bytes } = await signed(spoiled);
  const secrets = [secretBytes(SECRET), secretBytes(OLD_SECRET)];
  const token = await readToken(authorization, { secrets, issuer, now });
  if (!token.ok) return [401, token.problem];
  const body = readBody(bytes, token.token.claims, { audience: AUDIENCE });
  return body.ok ? [200, body.event.type] : [400, body.problem];
}

const TABLE = requestTable({ now: NOW, audience: AUDIENCE, secondSecret: OLD_SECRET });

for (const [what, status, spoiled, given] of TABLE) {
  test(`${what}: ${status}`, async () => {
    expect((await statusOf(spoiled, given))[0]).toBe(status);
  });
}

test('the hash in upper case is a hash, and not that of the body', async () => {
  const { bytes } = await signed({});
  const { createHash } = await import('node:crypto');
  const upper = createHash('sha256').update(bytes).digest('hex').toUpperCase();
  const body = bytes.toString();
  expect((await statusOf({ body, claims: { body_sha256: upper } }))[0]).not.toBe(200);
});

test('a refusal says what is wrong, and never what was sent', async () => {
  for (const [, status, spoiled, given] of TABLE) {
    const [code, problem] = await statusOf(spoiled, given);
    if (status === 200) continue;
    expect([code, typeof problem]).toEqual([expect.any(Number), 'string']);
    expect(String(problem)).not.toContain(SECRET);
    expect(String(problem)).not.toMatch(/deployment-1|6ba7b810/i);
  }
});

test('a root path and no path are one audience, and nothing else is', async () => {
  const at = async (audience: string, aud: string) => {
    const { authorization, bytes } = await signed({ claims: { aud } });
    const token = await readToken(authorization, { secrets: [secretBytes(SECRET)], now: NOW });
    return token.ok && readBody(bytes, token.token.claims, { audience }).ok;
  };
  expect(await at('https://h.example', 'https://h.example/')).toBe(true);
  expect(await at('https://h.example/', 'https://h.example')).toBe(true);
  expect(await at('https://h.example/a', 'https://h.example/a/')).toBe(false);
  expect(await at('https://h.example', 'https://H.example')).toBe(false);
  expect(await at('https://h.example', 'https://h.example:443')).toBe(false);
  expect(await at('https://h.example/?a', 'https://h.example?a')).toBe(false);
});
