import { createHash } from 'node:crypto';
import { sameAudience } from './audience';
import { readEvent, type CoderEvent } from './event';
import { chatOf, type DispatchClaims } from './token';

/** Largest body, in bytes. */
export const MAX_EVENT_BYTES = 10 * 1024 * 1024;

export type BodyReading =
  | { readonly ok: true; readonly event: CoderEvent; readonly text: string }
  | { readonly ok: false; readonly problem: string };

/**
 * What the bytes say, and whether it is what the token says. The hash is taken over the bytes as they came, before
 * anything parses them.
 */
export function readBody(
  bytes: Uint8Array,
  claims: DispatchClaims,
  { audience }: { audience: string },
): BodyReading {
  if (createHash('sha256').update(bytes).digest('hex') !== claims.body_sha256) {
    return refused('the bytes of the body are not those that were signed');
  }
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    return refused('the body is not one JSON value in UTF-8');
  }
  if (!sameAudience(claims.aud, audience)) return refused('aud is not the configured audience');
  const reading = readEvent(value);
  if (!reading.ok) return refused(reading.problem);
  const { event } = reading;
  if (event.meta.dispatchId !== claims.jti.toLowerCase()) return refused('dispatch_id is not jti');
  if (event.type !== claims.type) return refused('the type of the body is not that of the token');
  if (event.meta.chatId !== chatOf(claims)) return refused('chat_id is not the chat of sub');
  return { ok: true, event, text };
}

function refused(problem: string): BodyReading {
  return { ok: false, problem };
}
