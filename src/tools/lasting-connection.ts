import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { isConnectionClosed, type McpConnection } from './mcp-connection';

/**
 * One session with a server after the other, used by many requests at once.
 *
 *   L1  There is one newest session, however many ask for it at once; it is opened anew when it has ended.
 *   L2  A session that is found lost takes no new requests. It is closed when the last request that uses it is over, so
 *       that what one request finds never ends the others.
 */
export class LastingConnection {
  private newest: Promise<McpConnection> | undefined;
  /** What `newest` came to; nothing while it is being opened. */
  private current: McpConnection | undefined;
  private readonly users = new Map<McpConnection, number>();

  constructor(private readonly connect: () => Promise<McpConnection>) {}

  /** @throws whatever keeps the session from coming about */
  async open(): Promise<McpConnection> {
    if (this.current?.isClosed === true) this.drop(this.current);
    return this.newest ?? this.connectAnew();
  }

  /** @throws whatever `run` throws; when that says that the session is lost, the next use opens another one */
  async use<Result>(
    run: (connection: McpConnection) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const connection = await this.open();
    this.users.set(connection, (this.users.get(connection) ?? 0) + 1);
    try {
      return await run(connection);
    } catch (error) {
      if (isSessionLost(error) && !signal.aborted) this.drop(connection);
      throw error;
    } finally {
      this.release(connection);
    }
  }

  async close(): Promise<void> {
    const { newest } = this;
    const used = [...this.users.keys()];
    this.newest = undefined;
    this.current = undefined;
    const last = await newest?.catch(() => undefined);
    const open = new Set(last === undefined ? used : [...used, last]);
    await Promise.all([...open].map((connection) => connection.close().catch(() => undefined)));
  }

  private drop(connection: McpConnection): void {
    if (this.current !== connection) return;
    this.newest = undefined;
    this.current = undefined;
  }

  private release(connection: McpConnection): void {
    const left = (this.users.get(connection) ?? 1) - 1;
    if (left > 0) {
      this.users.set(connection, left);
      return;
    }
    this.users.delete(connection);
    if (connection !== this.current) void connection.close().catch(() => undefined);
  }

  private connectAnew(): Promise<McpConnection> {
    const connecting = this.connect();
    this.newest = connecting;
    connecting.then(
      (connection) => {
        if (this.newest === connecting) this.current = connection;
      },
      () => {
        if (this.newest === connecting) this.newest = undefined;
      },
    );
    return connecting;
  }
}

/** An answer that is an error of the protocol came over a session that works. */
export function isSessionLost(error: unknown): boolean {
  return !(error instanceof McpError) || isConnectionClosed(error);
}
