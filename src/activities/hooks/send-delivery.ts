import type { PlacedUrlHook, UrlProcessor } from '../../domain/hook';
import { MAX_ANSWER_BYTES } from '../../domain/hook-limits';
import type { OutboundHttp } from '../../outbound/outbound-http';
import { resolveHeaders } from '../../secrets/header-values';
import { TENANT_SECRET } from '../../secrets/secret-map';
import type { Secrets } from '../../secrets/secrets';
import { signDelivery } from '../../secrets/signature';
import { SigningSecretError } from '../../secrets/signing-key';
import type { HookInputBase } from './hook-input';
import { readReply, type Attempt, type AttemptFailure } from './read-reply';

export interface Delivering {
  readonly http: OutboundHttp;
  readonly secrets: Secrets;
}

export interface OneDelivery {
  readonly tenant: string;
  readonly placed: PlacedUrlHook;
  readonly deliveryId: string;
  readonly input: HookInputBase;
  readonly attempt: number;
  readonly timeoutMs: number;
  /** Where a late answer goes; absent when none is taken. */
  readonly callback?: { readonly url: string; readonly token: string; readonly expiresAt: string };
  readonly signal: AbortSignal;
}

/** One attempt to ask a hook. Rejects only when `signal` is aborted. */
export async function sendDelivery({ http, secrets }: Delivering, delivery: OneDelivery): Promise<Attempt> {
  const { placed, deliveryId, input, attempt, timeoutMs, callback, signal } = delivery;
  const { processor, point } = placed.hook;
  const sentAt = new Date();
  const body = JSON.stringify({
    ...input,
    attempt,
    sentAt: sentAt.toISOString(),
    ...(callback !== undefined && { callback }),
  });
  const headers = await headersOf(secrets, delivery, processor, { id: deliveryId, timestamp: sentAt, body });
  if ('kind' in headers) return headers;
  const reply = await http.send({
    url: processor.url,
    headers: headers.headers,
    body,
    timeoutMs,
    maxAnswerBytes: MAX_ANSWER_BYTES,
    signal,
  });
  return readReply(reply, { point, mayAnswerLater: callback !== undefined });
}

async function headersOf(
  secrets: Secrets,
  { tenant }: OneDelivery,
  processor: UrlProcessor,
  message: { id: string; timestamp: Date; body: string },
): Promise<{ headers: Record<string, string> } | AttemptFailure> {
  const host = new URL(processor.url).hostname;
  const own = await resolveHeaders(secrets, { tenant, host, headers: processor.headers });
  if (!own.ok) return notSent(own);
  const headers = { 'content-type': 'application/json', 'user-agent': 'portcullis', ...own.headers };
  const signing = await secrets.values(tenant, processor.secret ?? TENANT_SECRET, host);
  if (!signing.ok) return notSent(signing);
  try {
    return { headers: { ...headers, ...signDelivery({ ...message, secrets: signing.values }) } };
  } catch (error) {
    if (!(error instanceof SigningSecretError)) throw error;
    return notSent({ code: error.code, text: error.message });
  }
}

/** What cannot be signed, or misses its credentials, is not sent. */
function notSent({ code, text }: { code: string; text: string }): AttemptFailure {
  return { kind: 'failed', outcome: 'unreachable', code, text, retry: false };
}
