import { canonicalJson } from '../domain/digest';
import type { JsonObject, JsonValue } from '../domain/json-value';
import type { DeclaredTool, ServerAddress } from '../domain/runnable-tool';
import { LostAnswers } from './lost-answers';
import { McpConnection } from './mcp-connection';
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

/** Where the key is told to a server; `portcullis/` is the prefix of what Portcullis adds (MCP 2025-11-25, `_meta`). */
const IDEMPOTENCY_META = 'portcullis/idempotency-key';

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
    return this.withSession(at, (session) => session.tools(fresh, signal));
  }

  async call(
    at: { tenant: string; address: ServerAddress },
    call: McpCall,
  ): Promise<Readonly<Record<string, unknown>>> {
    const session = await this.session(at);
    return session.call(call);
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

  /** What fails because a session had ended unnoticed is tried once in a new one; only for what has no effect. */
  private async withSession<Result>(
    at: { tenant: string; address: ServerAddress },
    run: (session: Session) => Promise<Result>,
  ): Promise<Result> {
    const session = await this.session(at);
    try {
      return await run(session);
    } catch (error) {
      await session.reopen();
      return run(session).catch(() => {
        throw error;
      });
    }
  }

  private async session(at: { tenant: string; address: ServerAddress }): Promise<Session> {
    const session = this.sessionOf(at);
    await session.open();
    return session;
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
  private connection: Promise<McpConnection> | undefined;
  private listed: { readonly at: number; readonly tools: readonly DeclaredTool[] } | undefined;
  private readonly answers = new LostAnswers();

  constructor(
    private readonly given: Transports & { readonly version: string },
    private readonly tenant: string,
    private readonly address: ServerAddress,
  ) {}

  async open(): Promise<McpConnection> {
    this.usedAt = performance.now();
    const current = this.connection;
    if (current !== undefined && !(await current).isClosed) return current;
    if (this.connection !== current) return this.open();
    return this.connect();
  }

  async reopen(): Promise<void> {
    await this.close();
    await this.connect();
  }

  async tools(fresh: boolean, signal?: AbortSignal): Promise<readonly DeclaredTool[]> {
    const { listed } = this;
    if (!fresh && listed !== undefined && performance.now() - listed.at < LIST_FRESH_MS) return listed.tools;
    const connection = await this.open();
    const at = performance.now();
    const tools = await connection.listTools(signal);
    this.listed = { at, tools };
    return tools;
  }

  async call(call: McpCall): Promise<Readonly<Record<string, unknown>>> {
    const { name, input, idempotencyKey, timeoutMs, signal, onProgress } = call;
    const connection = await this.open();
    const { lost, done } = this.answers.expect(idempotencyKey);
    const meta = { [IDEMPOTENCY_META]: idempotencyKey };
    const options = { meta, timeoutMs, signal, ...(onProgress !== undefined && { onProgress }) };
    try {
      return await Promise.race([connection.callTool(name, input, options), lost]);
    } finally {
      done();
    }
  }

  async close(): Promise<void> {
    const { connection } = this;
    this.connection = undefined;
    this.listed = undefined;
    await connection?.then((open) => open.close()).catch(() => undefined);
  }

  private connect(): Promise<McpConnection> {
    const { tenant, address } = this;
    const connecting = (async () => {
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
    })();
    this.connection = connecting;
    this.listed = undefined;
    connecting.catch(() => {
      if (this.connection === connecting) this.connection = undefined;
    });
    return connecting;
  }

  private changed(): void {
    this.listed = undefined;
    for (const listener of this.listeners) listener();
  }
}
