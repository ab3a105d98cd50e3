import { compactVerify, CompactSign } from 'jose';
import { isEventType, type EventType } from './event';

/**
 * The JSON Web Tokens of the protocol: HS256, typ exactly `JWT`, one string as audience, whole seconds, no leeway. One
 * token says who speaks (`iss`) about which chat (`sub`) to whom (`aud`), names the dispatch (`jti`) and pins the bytes.
 */
export interface DispatchClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: string;
  /** Whole seconds since the epoch, as the next two. */
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number;
  readonly jti: string;
  readonly type: EventType;
  /** SHA-256 of the exact bytes of the body, in lower-case hex. */
  readonly body_sha256: string;
}

export interface VerifiedToken {
  readonly claims: DispatchClaims;
  /** Every claim that was signed. */
  readonly all: Readonly<Record<string, unknown>>;
  /** The one that verified it; answers are signed with it. */
  readonly secret: Uint8Array;
}

export type TokenReading =
  { readonly ok: true; readonly token: VerifiedToken } | { readonly ok: false; readonly problem: string };

/** Shortest secret, in bytes: the hash's own length (RFC 7518 §3.2). */
export const MIN_SECRET_BYTES = 32;

/** A secret's raw UTF-8 bytes; it is never decoded. */
export function secretBytes(secret: string): Uint8Array {
  return new TextEncoder().encode(secret);
}

const BEARER = /^Bearer ([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const SUBJECT = /^coder:chat:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;
const SHA256 = /^[0-9a-fA-F]{64}$/;
const NIL = '00000000-0000-0000-0000-000000000000';

/** The header of a token, before it is verified: only to choose the key. */
export function keyIdOf(authorization: string | undefined): string | undefined {
  const token = BEARER.exec(authorization ?? '')?.[1];
  try {
    const [head = ''] = (token ?? '').split('.', 1);
    const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid?: unknown };
    return typeof kid === 'string' ? kid : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Everything that can be said of a token without the body.
 * @param now seconds since the epoch, not rounded
 */
export async function readToken(
  authorization: string | undefined,
  { secrets, issuer, now }: { secrets: readonly Uint8Array[]; issuer?: string | undefined; now: number },
): Promise<TokenReading> {
  const token = BEARER.exec(authorization ?? '')?.[1];
  if (token === undefined) return refused('send Authorization: Bearer and a token');
  const verified = await verify(token, secrets);
  if (verified === undefined) return refused('the signature is not one of the configured secrets');
  if (verified.typ !== 'JWT') return refused('the header typ is not JWT');
  const claims = readClaims(verified.payload);
  if (typeof claims === 'string') return refused(claims);
  if (now < claims.nbf) return refused('the token is not valid yet');
  if (now >= claims.exp) return refused('the token has expired');
  if (issuer !== undefined && claims.iss !== issuer) return refused('the issuer is another one');
  return { ok: true, token: { claims, all: verified.payload, secret: verified.secret } };
}

async function verify(token: string, secrets: readonly Uint8Array[]) {
  for (const secret of secrets) {
    try {
      const { payload, protectedHeader } = await compactVerify(token, secret, { algorithms: ['HS256'] });
      const json: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
      if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined;
      return { payload: json as Readonly<Record<string, unknown>>, typ: protectedHeader.typ, secret };
    } catch {
      // Another secret may have signed it.
    }
  }
  return undefined;
}

/** The claims in the order in which they are checked; a text says which is at fault. */
function readClaims(payload: Readonly<Record<string, unknown>>): DispatchClaims | string {
  const { iss, aud, iat, nbf, exp, jti, type, body_sha256: hash } = payload;
  const subject = payload['sub'];
  if (typeof iss !== 'string' || iss === '') return 'iss is missing';
  if (typeof subject !== 'string' || subject === '') return 'sub is missing';
  if (typeof aud !== 'string' || aud === '') return 'aud is not one string';
  if (!isSeconds(iat)) return 'iat is not a number of whole seconds';
  if (!isSeconds(nbf)) return 'nbf is not a number of whole seconds';
  if (!isSeconds(exp)) return 'exp is not a number of whole seconds';
  if (typeof jti !== 'string' || !UUID.test(jti) || jti === NIL) return 'jti is not a UUID';
  if (!isEventType(type)) return 'type is not one of the seven events';
  if (typeof hash !== 'string' || !SHA256.test(hash)) return 'body_sha256 is not a SHA-256 in hex';
  if (nbf > exp || iat > exp) return 'the times contradict each other';
  if (!SUBJECT.test(subject)) return 'sub is not coder:chat: and a UUID';
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- a claim, and no method of strings
  return { iss, sub: subject, aud, iat, nbf, exp, jti, type, body_sha256: hash };
}

function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

/** The chat of a verified token, in lower case. */
export function chatOf(claims: Pick<DispatchClaims, 'sub'>): string {
  return (SUBJECT.exec(claims.sub)?.[1] ?? '').toLowerCase();
}

export async function signToken(
  claims: object,
  secret: Uint8Array,
  { kid }: { kid?: string } = {},
): Promise<string> {
  return new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', ...(kid !== undefined && { kid }) })
    .sign(secret);
}

function refused(problem: string): TokenReading {
  return { ok: false, problem };
}
