import { createHash, randomUUID } from 'node:crypto';
import { secretBytes, signToken } from '../../src/coder/token';

/** Signs events as the sender does, and lets a test spoil any part of them. */
export const SECRET = 'a-secret-of-the-tests-with-more-than-32-bytes';
export const AUDIENCE = 'https://hooks.example.com/api/v1/hooks/coder/chat';
export const NOW = 1_780_000_000;

export interface Spoiled {
  readonly meta?: Record<string, unknown>;
  readonly data?: unknown;
  readonly type?: unknown;
  /** Members that are undefined are left out. */
  readonly claims?: Record<string, unknown>;
  readonly body?: string | ((text: string) => string);
  /** After the hash was taken. */
  readonly sent?: (text: string) => string;
  readonly secret?: string;
  readonly header?: Record<string, unknown>;
  readonly authorization?: (token: string) => string | undefined;
}

export interface Signed {
  readonly authorization: string | undefined;
  readonly bytes: Buffer;
  readonly dispatchId: string;
  readonly chatId: string;
}

export async function signed(spoiled: Spoiled = {}): Promise<Signed> {
  const dispatchId = idOf(spoiled.meta?.['dispatch_id']);
  const chatId = idOf(spoiled.meta?.['chat_id']);
  const type = spoiled.type ?? 'pre_tool_use';
  const meta = {
    dispatch_id: dispatchId,
    schema_version: 1,
    chat_id: chatId,
    owner_id: randomUUID(),
    workspace_id: randomUUID(),
    ...spoiled.meta,
  };
  const data =
    'data' in spoiled
      ? spoiled.data
      : { tool_use_id: 'call_1', tool_name: 'execute', tool_input: { command: 'ls' } };
  const plain = JSON.stringify({ type, meta, data });
  const body = typeof spoiled.body === 'function' ? spoiled.body(plain) : (spoiled.body ?? plain);
  const claims = {
    iss: 'deployment-1',
    sub: `coder:chat:${chatId}`,
    aud: AUDIENCE,
    iat: NOW,
    nbf: NOW - 30,
    exp: NOW + 32,
    jti: dispatchId,
    type,
    body_sha256: createHash('sha256').update(body).digest('hex'),
    ...spoiled.claims,
  };
  const secret = secretBytes(spoiled.secret ?? SECRET);
  const token =
    spoiled.header === undefined
      ? await signToken(claims, secret)
      : await signWithHeader(claims, secret, spoiled.header);
  const authorization =
    spoiled.authorization === undefined ? `Bearer ${token}` : spoiled.authorization(token);
  return { authorization, bytes: Buffer.from(spoiled.sent?.(body) ?? body), dispatchId, chatId };
}

const idOf = (given: unknown): string => (typeof given === 'string' ? given : randomUUID());

/** By hand, because no library signs what this is to sign. */
async function signWithHeader(claims: object, secret: Uint8Array, header: object): Promise<string> {
  const { createHmac } = await import('node:crypto');
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part(header)}.${part(claims)}`;
  const { alg } = header as { alg?: string };
  const hash = alg === 'HS384' ? 'sha384' : alg === 'HS512' ? 'sha512' : 'sha256';
  const signature = alg === 'none' ? '' : createHmac(hash, secret).update(text).digest('base64url');
  return `${text}.${signature}`;
}
