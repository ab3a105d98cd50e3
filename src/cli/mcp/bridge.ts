import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { SettingsError } from '../service/settings-error';
import { VERSION } from '../service/version';
import { GatewayClient } from './gateway-client';

export interface BridgeOptions {
  readonly profile: string;
  readonly url?: string;
  readonly thread?: string;
  readonly wait?: string;
}

const DEFAULT_URL = 'http://127.0.0.1:7070';

/**
 * `portcullis mcp`: the gateway's tools over standard input and output, for clients that know nothing else. All calls are
 * made in one thread, so that decisions of pending calls outlive a restart of Nexus. Ends when the client closes its end.
 */
/* eslint-disable @typescript-eslint/no-deprecated -- what the gateway offers is passed on as it is, which the SDK's higher level has no place for */
export async function runMcpBridge(env: NodeJS.ProcessEnv, options: BridgeOptions): Promise<void> {
  const base = (options.url ?? env['PORTCULLIS_URL'] ?? DEFAULT_URL).replace(/\/+$/, '');
  if (!URL.canParse(base)) throw new SettingsError(`${base} is no address; write --url ${DEFAULT_URL}`);
  const token = env['PORTCULLIS_KEY'] ?? '';
  if (token === '') {
    throw new SettingsError(
      'set PORTCULLIS_KEY to an API key with scope calls; it is not taken as an option',
    );
  }
  const threadId = options.thread ?? (await makeThread(base, token, options.profile));
  const url = new URL(`${base}/mcp/${encodeURIComponent(options.profile)}`);
  url.searchParams.set('thread', threadId);
  if (options.wait !== undefined) url.searchParams.set('wait', options.wait);

  const gateway = new GatewayClient({
    url: url.href,
    token,
    version: VERSION,
    onToolsChanged: () => void server.sendToolListChanged().catch(() => undefined),
  });
  const instructions = await firstInstructions(gateway, base);
  const server = new Server(
    { name: 'portcullis', version: VERSION },
    { capabilities: { tools: { listChanged: true } }, ...(instructions !== undefined && { instructions }) },
  );
  server.setRequestHandler(ListToolsRequestSchema, ({ params }, { signal }) =>
    gateway.request('tools/list', params, { signal }),
  );
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal, sendNotification }) => {
    const progressToken = params._meta?.progressToken;
    return gateway.callTool(params, {
      signal,
      ...(progressToken !== undefined && {
        onProgress: (progress) =>
          void sendNotification({
            method: 'notifications/progress',
            params: { ...progress, progressToken },
          }).catch(() => undefined),
      }),
    });
  });
  const ended = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve).once('close', resolve);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  await server.connect(new StdioServerTransport());
  await ended;
  await server.close();
  await gateway.close();
}

async function firstInstructions(gateway: GatewayClient, base: string): Promise<string | undefined> {
  try {
    return (await gateway.open()).instructions;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'it does not answer';
    throw new SettingsError(`the MCP gateway at ${base} cannot be used: ${why}`, { cause });
  }
}

const made = z.object({ id: z.string() });
const problem = z.object({ title: z.string(), detail: z.string().optional() });

async function makeThread(base: string, token: string, profileId: string): Promise<string> {
  let response: Response;
  try {
    response = await fetch(`${base}/v1/threads`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ profileId, metadata: { mcpClient: { transport: 'stdio' } } }),
    });
  } catch (cause) {
    throw new SettingsError(`Portcullis does not answer at ${base}; say where it is with --url`, { cause });
  }
  const body: unknown = await response.json().catch(() => undefined);
  const thread = made.safeParse(body);
  if (response.status === 201 && thread.success) return thread.data.id;
  const told = problem.safeParse(body);
  const why = told.success ? `${told.data.title}. ${told.data.detail ?? ''}` : `status ${response.status}`;
  throw new SettingsError(
    `no thread could be made on profile ${profileId}: ${why.trim()}. Check --profile and PORTCULLIS_KEY.`,
  );
}
