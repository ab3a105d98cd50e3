import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type CallToolResult,
} from '@modelcontextprotocol/sdk/types.js';

export interface ServedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: object;
  readonly outputSchema?: object;
}

export interface CallSeen {
  readonly name: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly input: any;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly meta: any;
  readonly headers: IncomingMessage['headers'];
}

/** `tell` sends progress to a client that asked for it. */
export type McpBehaviour = (
  seen: CallSeen,
  tell: (progress: number, total: number) => Promise<void>,
) => object | Promise<object>;

/** An MCP server over streamable HTTP on loopback, made with the official SDK, that counts its calls. */
export interface McpToolServer {
  readonly url: string;
  readonly seen: readonly CallSeen[];
  readonly sessions: number;
  offer(tools: readonly ServedTool[]): void;
  behave(behaviour: McpBehaviour): void;
  /** Tells every session that the tools have changed. */
  announceChange(): Promise<void>;
  /** Forgets all sessions, as a restart would. */
  forgetSessions(): void;
  /** Breaks every connection and takes no more. */
  close(): Promise<void>;
}

export const said = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

/* eslint-disable @typescript-eslint/no-deprecated -- the server that leaves results as they are is the one of the lower level */
export async function startMcpServer(
  first: readonly ServedTool[] = [{ name: 'echo' }],
): Promise<McpToolServer> {
  let tools = first;
  let behaviour: McpBehaviour = ({ input }) => said(JSON.stringify(input));
  const seen: CallSeen[] = [];
  const sessions = new Map<string, { transport: StreamableHTTPServerTransport; server: Server }>();
  let opened = 0;

  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const server = new Server(
      { name: 'fixture', version: '1' },
      { capabilities: { tools: { listChanged: true } } },
    );
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: tools.map(({ inputSchema = { type: 'object' }, ...tool }) => ({
        ...tool,
        inputSchema,
      })) as never,
    }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
      const { name, arguments: input, _meta: meta } = params;
      const headers = (extra.requestInfo?.headers ?? {}) as IncomingMessage['headers'];
      const one = { name, input, meta, headers };
      seen.push(one);
      const token: unknown = meta?.progressToken;
      const tell = async (progress: number, total: number): Promise<void> => {
        if (typeof token !== 'string' && typeof token !== 'number') return;
        const params = { progressToken: token, progress, total };
        await extra.sendNotification({ method: 'notifications/progress', params });
      };
      return await behaviour(one, tell);
    });
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        opened += 1;
        sessions.set(id, { transport, server });
      },
    });
    await server.connect(transport);
    return transport;
  };
  const http = createServer((request, response) => {
    void (async () => {
      const id = request.headers['mcp-session-id'];
      const known = typeof id === 'string' ? sessions.get(id)?.transport : undefined;
      if (id !== undefined && known === undefined) {
        response.writeHead(404).end();
        return;
      }
      await (known ?? (await open())).handleRequest(request, response);
    })();
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${(http.address() as AddressInfo).port}/mcp`,
    seen,
    get sessions() {
      return opened;
    },
    offer: (next) => {
      tools = next;
    },
    behave: (next) => {
      behaviour = next;
    },
    async announceChange() {
      await Promise.all([...sessions.values()].map(({ server }) => server.sendToolListChanged()));
    },
    forgetSessions: () => sessions.clear(),
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}
