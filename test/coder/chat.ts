import { randomUUID } from 'node:crypto';
import { compactVerify } from 'jose';
import { secretBytes } from '../../src/coder/token';
import { HOOK_AUDIENCE, type Stack } from '../support/stack';
import { signed, type Spoiled } from './fixture';

export const HOOK_SECRET = 'the-hook-key-of-a-tenant-with-more-than-32-bytes';

export interface HookAnswer {
  readonly status: number;
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
  readonly signature: string | null;
  readonly dispatchId: string;
}

/** One chat in Coder, whose events Manager relays to the hook server. */
export class Chat {
  readonly chatId: string = randomUUID();
  readonly ownerId: string = randomUUID();
  workspaceId: string = randomUUID();

  constructor(
    private readonly stack: Stack,
    private readonly relay: { role?: string; ticket?: string; budgetMs?: number } = {},
  ) {}

  tool(id: string, name: string, input: unknown, more: Spoiled = {}): Promise<HookAnswer> {
    return this.send('pre_tool_use', { tool_use_id: id, tool_name: name, tool_input: input }, more);
  }

  ran(id: string, name: string, result: object): Promise<HookAnswer> {
    return this.send('post_tool_use', { tool_use_id: id, tool_name: name, ...result });
  }

  prompt(prompt: string, more: Spoiled = {}): Promise<HookAnswer> {
    return this.send('user_prompt_submit', { prompt }, more);
  }

  async send(type: string, data: unknown, more: Spoiled = {}): Promise<HookAnswer> {
    const { authorization, bytes, dispatchId } = await this.request(type, data, more);
    const response = await fetch(`${this.stack.nexus.url}/experimental/hooks/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) },
      body: bytes,
    });
    const text = await response.text();
    const signature = response.headers.get('coder-hook-signature');
    return {
      status: response.status,
      text,
      body: text === '' ? undefined : JSON.parse(text),
      signature,
      dispatchId,
    };
  }

  request(type: string, data: unknown, { meta, claims, header, ...more }: Spoiled = {}) {
    const now = Math.floor(Date.now() / 1_000);
    const { role = 'forge', ticket, budgetMs = 5_000 } = this.relay;
    return signed({
      type,
      data,
      meta: { chat_id: this.chatId, owner_id: this.ownerId, workspace_id: this.workspaceId, ...meta },
      secret: HOOK_SECRET,
      header: { alg: 'HS256', typ: 'JWT', kid: `${this.stack.tenant}.1`, ...header },
      claims: {
        iss: 'manager',
        aud: HOOK_AUDIENCE,
        iat: now,
        nbf: now - 30,
        exp: now + 10,
        workspace: this.workspaceId,
        role,
        ...(ticket !== undefined && { ticket }),
        deadline: Date.now() + budgetMs,
        ...claims,
      },
      ...more,
    });
  }
}

/** What a signature says, once it is verified with the tenant's key. */
export async function signatureOf({ signature }: HookAnswer): Promise<Record<string, unknown>> {
  const { payload } = await compactVerify(signature ?? '', secretBytes(HOOK_SECRET));
  return JSON.parse(new TextDecoder().decode(payload)) as Record<string, unknown>;
}
