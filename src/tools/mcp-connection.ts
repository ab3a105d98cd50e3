import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ErrorCode,
  McpError,
  ResultSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../domain/json-value';
import type { DeclaredTool } from '../domain/runnable-tool';
import { declaredTool } from './declared-tool';

/** Where a call is given its idempotency key; `portcullis/` is the prefix of what Portcullis adds (MCP 2025-11-25, `_meta`). */
export const IDEMPOTENCY_META = 'portcullis/idempotency-key';

/** Bounds what a server can make us read. */
const MAX_PAGES = 100;
const MAX_TOOLS = 1_000;

/** How the SDK begins to say it (client/streamableHttp). */
const RESUME_FAILED = 'Maximum reconnection attempts';

export interface OpenOptions {
  readonly timeoutMs: number;
  readonly version: string;
}

/**
 * A session with an MCP server (Model Context Protocol 2025-11-25). Results are passed on as they come, of kinds that the
 * SDK does not know too; it is used for the session, and not for what it makes of results.
 */
export class McpConnection {
  /** Called at every notice that the tools have changed, and when the session ends. */
  onToolsChanged: () => void = () => undefined;
  onClosed: () => void = () => undefined;
  /** Called when a stream that broke could not be asked for again. */
  onResumeFailed: () => void = () => undefined;
  private closed = false;

  private constructor(
    private readonly client: Client,
    private readonly timeoutMs: number,
  ) {}

  /** @throws whatever keeps the session from coming about */
  static async open(transport: Transport, { timeoutMs, version }: OpenOptions): Promise<McpConnection> {
    const client = new Client({ name: 'portcullis', version });
    const connection = new McpConnection(client, timeoutMs);
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => connection.onToolsChanged());
    client.onclose = () => {
      connection.closed = true;
      connection.onClosed();
    };
    // Whatever goes wrong with a request is thrown where the request is made; this only the SDK's streams say.
    client.onerror = ({ message }) => {
      if (message.startsWith(RESUME_FAILED)) connection.onResumeFailed();
    };
    try {
      await client.connect(transport, { timeout: timeoutMs });
    } catch (error) {
      await client.close().catch(() => undefined);
      throw error;
    }
    return connection;
  }

  get isClosed(): boolean {
    return this.closed;
  }

  /** What the server is, and what it says of itself. */
  get instructions(): string | undefined {
    return this.client.getInstructions();
  }

  /** A request as it is. @returns the result as the server gave it. @throws McpError for an answer that is an error */
  request(
    method: string,
    params: Readonly<Record<string, unknown>> | undefined,
    options: RequestOptions,
  ): Promise<Readonly<Record<string, unknown>>> {
    return this.client.request(
      { method, ...(params !== undefined && { params: { ...params } }) },
      ResultSchema,
      options,
    );
  }

  /** The server's tools in its order. What has no usable name or schema is left out. */
  async listTools(signal?: AbortSignal): Promise<DeclaredTool[]> {
    if (this.client.getServerCapabilities()?.tools === undefined) return [];
    const tools = new Map<string, DeclaredTool>();
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES && tools.size < MAX_TOOLS; page += 1) {
      const result = await this.request('tools/list', cursor === undefined ? undefined : { cursor }, {
        timeout: this.timeoutMs,
        ...(signal && { signal }),
      });
      const listed = result['tools'];
      for (const entry of Array.isArray(listed) ? (listed as unknown[]) : []) {
        const tool = declaredTool(entry);
        if (tool !== undefined && !tools.has(tool.name)) tools.set(tool.name, tool);
      }
      const next = result['nextCursor'];
      if (typeof next !== 'string' || next === cursor) break;
      cursor = next;
    }
    return [...tools.values()];
  }

  /** @returns the result as the server gave it. @throws McpError for an answer that is an error, and else what failed */
  async callTool(
    name: string,
    input: JsonObject,
    {
      meta,
      timeoutMs,
      signal,
      onProgress,
    }: {
      meta: JsonObject;
      timeoutMs: number;
      signal: AbortSignal;
      onProgress?: (progress: number, total: number | undefined) => void;
    },
  ): Promise<Readonly<Record<string, unknown>>> {
    return this.request(
      'tools/call',
      { name, arguments: input, _meta: meta },
      {
        timeout: timeoutMs,
        maxTotalTimeout: timeoutMs,
        signal,
        ...(onProgress !== undefined && {
          onprogress: ({ progress, total }) => onProgress(progress, total),
        }),
      },
    );
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.client.close();
  }
}

/** The request's own time was over: the SDK's word for that. */
export function isRequestTimeout(error: unknown): boolean {
  return error instanceof McpError && hasCode(error, ErrorCode.RequestTimeout);
}

/** The server went before it had answered. */
export function isConnectionClosed(error: unknown): boolean {
  return error instanceof McpError && hasCode(error, ErrorCode.ConnectionClosed);
}

/** The server does not know the request. */
export function isUnknownMethod(error: unknown): boolean {
  return error instanceof McpError && hasCode(error, ErrorCode.MethodNotFound);
}

function hasCode({ code }: McpError, wanted: ErrorCode): boolean {
  return code === (wanted as number);
}
