import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LostAnswers } from '../../tools/lost-answers';
import { isSessionLost, LastingConnection } from '../../tools/lasting-connection';
import { IDEMPOTENCY_META, McpConnection } from '../../tools/mcp-connection';
import { watchedTransport } from '../../tools/mcp-transports';

/** The gateway says when a call has waited long enough; this only bounds what it never answers. */
const LONGEST_MS = 2 * 86_400_000;

const HANDSHAKE_MS = 15_000;
const AGAIN_MS = 1_000;

/** How long a call is asked for again after the gateway has gone. */
const PATIENCE_MS = 10 * 60_000;

export type Params = Readonly<Record<string, unknown>> | undefined;

export interface Asking {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: { progress: number; message?: string | undefined }) => void;
}

/**
 * The gateway as one lasting session. It may restart: sessions are opened anew, and a call whose answer was lost is asked
 * for again under the name that it had, which runs nothing twice.
 */
export class GatewayClient {
  private readonly connection = new LastingConnection(() => this.connect());
  private readonly answers = new LostAnswers();

  constructor(
    private readonly given: {
      readonly url: string;
      readonly token: string;
      readonly version: string;
      readonly onToolsChanged: () => void;
    },
  ) {}

  /** @throws whatever keeps the session from coming about */
  async open(): Promise<McpConnection> {
    return this.connection.open();
  }

  /** For what has no effect: asked once more when the session was lost. */
  async request(
    method: string,
    params: Params,
    { signal }: Asking,
  ): Promise<Readonly<Record<string, unknown>>> {
    const ask = () =>
      this.connection.use(
        (connection) => connection.request(method, params, { signal, timeout: HANDSHAKE_MS }),
        signal,
      );
    try {
      return await ask();
    } catch (error) {
      if (!isSessionLost(error) || signal.aborted) throw error;
      return ask();
    }
  }

  async callTool(
    params: Readonly<Record<string, unknown>>,
    asking: Asking,
  ): Promise<Readonly<Record<string, unknown>>> {
    const meta = params['_meta'] as Readonly<Record<string, unknown>> | undefined;
    const key = typeof meta?.[IDEMPOTENCY_META] === 'string' ? meta[IDEMPOTENCY_META] : randomUUID();
    const named = { ...params, _meta: { ...withoutToken(meta), [IDEMPOTENCY_META]: key } };
    for (const until = Date.now() + PATIENCE_MS; ;) {
      try {
        return await this.callOnce(named, key, asking);
      } catch (error) {
        asking.signal.throwIfAborted();
        if (!isSessionLost(error) || Date.now() > until) throw error;
      }
      await sleep(AGAIN_MS, undefined, { signal: asking.signal });
    }
  }

  async close(): Promise<void> {
    await this.connection.close();
  }

  private callOnce(params: Params, key: string, { signal, onProgress }: Asking) {
    return this.connection.use(async (connection) => {
      const { lost, done } = this.answers.expect(key);
      const called = connection.request('tools/call', params, {
        signal,
        timeout: LONGEST_MS,
        ...(onProgress !== undefined && { onprogress: onProgress }),
      });
      try {
        return await Promise.race([called, lost]);
      } finally {
        done();
        called.catch(() => undefined);
      }
    }, signal);
  }

  private async connect(): Promise<McpConnection> {
    const { url, token, version, onToolsChanged } = this.given;
    const send = (address: string | URL, init: RequestInit): Promise<Response> => {
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${token}`);
      return fetch(address, { ...init, headers });
    };
    const transport = watchedTransport(url, send, (posted, canResume) =>
      this.answers.streamEnded(posted, canResume),
    );
    const connection = await McpConnection.open(transport, { timeoutMs: HANDSHAKE_MS, version });
    connection.onToolsChanged = onToolsChanged;
    connection.onResumeFailed = () => this.answers.resumeFailed();
    return connection;
  }
}

/** The client's own token means nothing on the other side. */
function withoutToken(
  meta: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> {
  const { progressToken: _, ...rest } = meta ?? {};
  return rest;
}
