import { canonicalJson } from '../domain/digest';
import type { JsonObject, JsonValue } from '../domain/json-value';
import type { DeclaredTool, ServerAddress } from '../domain/runnable-tool';
import { LostAnswers } from './lost-answers';
import { isSessionLost, LastingConnection } from './lasting-connection';
import { IDEMPOTENCY_META, McpConnection } from './mcp-connection';
import { transportTo, type Transports } from './mcp-transports';

/** For a session to come about, and for a list of tools. */
const HANDSHAKE_MS = 10_000;

/** A list of tools is asked for again after this time, also without a notice of a change. */
const LIST_FRESH_MS = 60_000;

/** A session that nobody used for so long is ended. */
const IDLE_MS = 10 * 60_000;

export interface McpCall {
  readonly name: string;
  readonly input: JsonObject;
  readonly idempotencyKey: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: number, total: number | undefined) => void;
}

/**
 * Sessions with MCP servers: one for each tenant and server of this process, opened when it is needed, used by many calls
 * at once, and opened anew when it has ended.
 */
export class McpServers {
  private readonly sessions = new Map<string, Session>();
  private readonly sweep: NodeJS.Timeout;

  constructor(private readonly given: Transports & { readonly version: string }) {
    this.sweep = setInterval(() => this.closeIdle(), IDLE_MS / 10);
    this.sweep.unref();
  }

  /** The tools of a server, as far as is known; `fresh` asks the server. */
  async list(
    at: { tenant: string; address: ServerAddress },
    { fresh = false, signal }: { fresh?: boolean; signal?: AbortSignal } = {},
  ): Promise<readonly DeclaredTool[]> {
    return this.sessionOf(at).tools(fresh, signal);
  }

  async call(
    at: { tenant: string; address: ServerAddress },
    call: McpCall,
  ): Promise<Readonly<Record<string, unknown>>> {
    return this.sessionOf(at).call(call);
  }

  /** Calls the listener whenever tools of the server may have changed, until it is stopped. */
  watch(at: { tenant: string; address: ServerAddress }, listener: () => void): () => void {
    const session = this.sessionOf(at);
    session.listeners.add(listener);
    return () => session.listeners.delete(listener);
  }

  async close(): Promise<void> {
    clearInterval(this.sweep);
    await Promise.all([...this.sessions.values()].map((session) => session.close()));
    this.sessions.clear();
  }

  private sessionOf({ tenant, address }: { tenant: string; address: ServerAddress }): Session {
    const { url = null, server = null, headers = null } = address;
    const key = canonicalJson({ tenant, url, server, headers: headers as JsonValue });
    const known = this.sessions.get(key);
    if (known !== undefined) return known;
    const session = new Session(this.given, tenant, address);
    this.sessions.set(key, session);
    return session;
  }

  private closeIdle(): void {
    const before = performance.now() - IDLE_MS;
    for (const [key, session] of this.sessions) {
      if (session.usedAt > before || session.listeners.size > 0) continue;
      this.sessions.delete(key);
      void session.close();
    }
  }
}

class Session {
  readonly listeners = new Set<() => void>();
  usedAt = performance.now();
  private readonly connection = new LastingConnection(() => this.connect());
  private listed: { readonly at: number; readonly tools: readonly DeclaredTool[] } | undefined;
  private readonly answers = new LostAnswers();

  constructor(
    private readonly given: Transports & { readonly version: string },
    private readonly tenant: string,
    private readonly address: ServerAddress,
  ) {}

  /** What fails because the session had ended unnoticed is tried once in a new one: asking for a list has no effect. */
  async tools(
    fresh: boolean,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<readonly DeclaredTool[]> {
    this.usedAt = performance.now();
    const { listed } = this;
    if (!fresh && listed !== undefined && performance.now() - listed.at < LIST_FRESH_MS) return listed.tools;
    try {
      return await this.list(signal);
    } catch (error) {
      if (signal.aborted || !isSessionLost(error)) throw error;
      return this.list(signal).catch(() => {
        throw error;
      });
    }
  }

  async call(call: McpCall): Promise<Readonly<Record<string, unknown>>> {
    this.usedAt = performance.now();
    const { name, input, idempotencyKey, timeoutMs, signal, onProgress } = call;
    const meta = { [IDEMPOTENCY_META]: idempotencyKey };
    const options = { meta, timeoutMs, signal, ...(onProgress !== undefined && { onProgress }) };
    return this.connection.use(async (connection) => {
      const { lost, done } = this.answers.expect(idempotencyKey);
      try {
        return await Promise.race([connection.callTool(name, input, options), lost]);
      } finally {
        done();
      }
    }, signal);
  }

  async close(): Promise<void> {
    this.listed = undefined;
    await this.connection.close();
  }

  private list(signal: AbortSignal): Promise<readonly DeclaredTool[]> {
    return this.connection.use(async (connection) => {
      const at = performance.now();
      const tools = await connection.listTools(signal);
      this.listed = { at, tools };
      return tools;
    }, signal);
  }

  private async connect(): Promise<McpConnection> {
    const { tenant, address } = this;
    this.listed = undefined;
    const transport = await transportTo(this.given, {
      tenant,
      address,
      onStreamEnd: (posted, canResume) => this.answers.streamEnded(posted, canResume),
    });
    const connection = await McpConnection.open(transport, {
      timeoutMs: HANDSHAKE_MS,
      version: this.given.version,
    });
    connection.onToolsChanged = () => this.changed();
    connection.onClosed = () => this.changed();
    connection.onResumeFailed = () => this.answers.resumeFailed();
    return connection;
  }

  private changed(): void {
    this.listed = undefined;
    for (const listener of this.listeners) listener();
  }
}
