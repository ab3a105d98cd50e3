import { isUtf8 } from 'node:buffer';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { signingKey } from './signing-key';

/** How far the sender's clock may be from the receiver's, either way, in milliseconds (Standard Webhooks, "Verifying"). */
export const TOLERANCE_MS = 5 * 60_000;

export interface Delivery {
  /** The delivery's id, the same on every attempt. It has no full stop, which separates what is signed. */
  readonly id: string;
  /** When this attempt is made; whole seconds are signed. */
  readonly timestamp: Date;
  /** Exactly the body that is sent. */
  readonly body: string | Buffer;
  /** One signature is made with each; both of a rotation. */
  readonly secrets: readonly [string, ...string[]];
}

export type DeliveryHeaders = Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>;

/**
 * The headers of a delivery by the Standard Webhooks scheme, version 1 (symmetric).
 * @throws SigningSecretError where a secret is no signing key; RangeError for an id with a full stop
 */
export function signDelivery({ id, timestamp, body, secrets }: Delivery): DeliveryHeaders {
  if (id === '' || id.includes('.')) throw new RangeError('a delivery id is not empty and has no full stop');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(timestamp.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => signingKey(secret).sign(id, timestamp, body)).join(' '),
  };
}

export interface ReceivedDelivery {
  readonly headers: {
    readonly id: string | undefined;
    readonly timestamp: string | undefined;
    readonly signature: string | undefined;
  };
  /** As it came, before any parsing. */
  readonly body: string | Buffer;
  readonly secrets: readonly string[];
  readonly now: Date;
}

/**
 * Whether one of the signatures was made with one of the secrets, within the tolerance around `now`. Never throws:
 * whatever is malformed, and a secret that is no signing key, verifies nothing.
 */
export function verifyDelivery({ headers, body, secrets, now }: ReceivedDelivery): boolean {
  const { id, timestamp, signature } = headers;
  if (!id || id.includes('.') || !signature || !/^[0-9]{1,11}$/.test(timestamp ?? '')) return false;
  // The library signs text; bytes that are none would be replaced and two bodies would share a signature.
  if (typeof body !== 'string' && !isUtf8(body)) return false;
  const sentAt = new Date(Number(timestamp) * 1_000);
  // Written so that an invalid clock is no match.
  if (!(Math.abs(now.getTime() - sentAt.getTime()) <= TOLERANCE_MS)) return false;
  const received = signature.split(' ');
  return secrets.some((secret) => {
    const expected = signatureOrNone(secret, id, sentAt, body);
    return expected !== undefined && received.some((one) => sameText(one, expected));
  });
}

function signatureOrNone(
  secret: string,
  id: string,
  sentAt: Date,
  body: string | Buffer,
): string | undefined {
  try {
    return signingKey(secret).sign(id, sentAt, body);
  } catch {
    return undefined;
  }
}

const TOKEN_PREFIX = 'pct_';

/**
 * Authenticates a late answer to one delivery; equal on every attempt.
 * @param key known to this service only: whoever has it can answer every delivery. At least 24 bytes
 */
export function callbackToken(key: string | Buffer, deliveryId: string): string {
  if (Buffer.byteLength(key) < 24) throw new RangeError('the key of callback tokens has at least 24 bytes');
  return TOKEN_PREFIX + createHmac('sha256', key).update(deliveryId).digest('base64url');
}

/** Takes the same time wherever a wrong token of the right length differs. */
export function isCallbackToken(key: string | Buffer, deliveryId: string, token: string): boolean {
  return sameText(token, callbackToken(key, deliveryId));
}

function sameText(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
