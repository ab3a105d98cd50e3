import { request } from 'undici';
import { readAnswer, type EventAnswer } from '../../coder/answer';
import { isDecidable, type CoderEvent, type EventType } from '../../coder/event';
import { secretBytes, signToken, type VerifiedToken } from '../../coder/token';
import type { ChatRecord, IngressEvent, ManagedTenant, TenantHookKey } from '../../store/manager/records';

/** What Nexus answered, or what stands for an answer that did not come. */
export interface Relayed {
  readonly outcome: IngressEvent['outcome'];
  readonly reason?: string;
  /** The bytes that are passed on as they are; absent: `answer` is said in the place of Nexus. */
  readonly bytes?: Buffer;
  readonly answer: EventAnswer;
}

/** The largest answer that is read, and a little more, so that one which is too large is told apart. */
const MAX_ANSWER_BYTES = 1_048_576 + 1;

/** How long Manager's own token is valid, in seconds. */
const TOKEN_S = 30;

export const HOOK_PATH = '/experimental/hooks/chat';

export function audienceOf({ nexusUrl, hookAudience }: ManagedTenant): string {
  return hookAudience ?? `${nexusUrl}${HOOK_PATH}`;
}

/**
 * Signs the same bytes anew with the tenant's key and asks its Nexus. Whatever goes wrong becomes an answer within the
 * budget: a denial where one is possible, else no objection.
 */
export async function relay(
  event: CoderEvent,
  by: {
    bytes: Buffer;
    token: VerifiedToken;
    tenant: ManagedTenant;
    chat: ChatRecord;
    key: TenantHookKey;
    issuer: string;
    /** When the answer must be there, in milliseconds since the epoch. */
    deadline: number;
  },
): Promise<Relayed> {
  const { bytes, tenant, deadline } = by;
  const left = deadline - Date.now();
  if (left <= 0) return failed(event.type, 'not_delivered', 'the time was over before it could be asked');
  try {
    const answer = await request(`${tenant.nexusUrl}${HOOK_PATH}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'accept-encoding': 'identity',
        authorization: `Bearer ${await tokenFor(by)}`,
      },
      body: bytes,
      signal: AbortSignal.timeout(left),
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const body = await bounded(answer.body);
    if (answer.statusCode === 401 || answer.statusCode === 403) {
      return failed(event.type, 'alarm', `Nexus does not accept Manager's key (${answer.statusCode})`);
    }
    if (answer.statusCode < 200 || answer.statusCode > 299) {
      return failed(event.type, 'not_delivered', `Nexus answered with status ${answer.statusCode}`);
    }
    const reading = body === undefined ? undefined : readAnswer(event.type, body);
    if (body === undefined || reading?.ok !== true) {
      const why = reading?.ok === false ? reading.problem : 'the body is too large';
      return failed(event.type, 'invalid_answer', `Nexus gave an answer that Coder would not take: ${why}`);
    }
    return { outcome: 'answered', bytes: body, answer: reading.answer };
  } catch {
    return failed(event.type, 'not_delivered', 'Nexus could not be asked in time');
  }
}

function tokenFor(by: Parameters<typeof relay>[1]): Promise<string> {
  const { token, tenant, chat, key, issuer, deadline } = by;
  const { sub, jti, type, body_sha256 } = token.claims;
  const iat = Math.floor(Date.now() / 1_000);
  const claims = {
    iss: issuer,
    aud: audienceOf(tenant),
    ...{ sub, jti, type, body_sha256, iat, nbf: iat - 30, exp: iat + TOKEN_S },
    ...(chat.workspaceId !== undefined && { workspace: chat.workspaceId }),
    role: chat.role,
    ...(chat.ticket !== undefined && { ticket: chat.ticket }),
    deadline,
  };
  return signToken(claims, secretBytes(key.secret), { kid: `${tenant.id}.${key.generation}` });
}

async function bounded(stream: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size >= MAX_ANSWER_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function failed(type: EventType, outcome: Relayed['outcome'], reason: string): Relayed {
  const answer: EventAnswer = isDecidable(type)
    ? {
        permission: {
          decision: 'deny',
          reason: 'This could not be judged in time, so it is not allowed. Try again.',
        },
      }
    : {};
  return { outcome, reason, answer };
}
