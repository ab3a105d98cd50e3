import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closingOf } from './closing';
import { connectionErrors } from './connection-error';

export interface ListenOptions {
  /** 0 takes a free port. */
  readonly port: number;
  readonly host: string;
  /** How long the header fields of one request may take to arrive. Default 10 000 ms. */
  readonly headersTimeoutMs?: number;
  /** How long one whole request may take to arrive. It says nothing about the answer. Default 30 000 ms. */
  readonly requestTimeoutMs?: number;
}

export interface Listening {
  /** Without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /**
   * Stops accepting, ends the streams, lets requests in flight finish for `graceMs`, then breaks what is left.
   * Calling it again waits for the same end.
   */
  readonly close: (graceMs: number) => Promise<void>;
}

/** @throws what the operating system says, such as EADDRINUSE */
export async function listen(app: RequestListener, options: ListenOptions): Promise<Listening> {
  const headersTimeout = options.headersTimeoutMs ?? 10_000;
  const requestTimeout = options.requestTimeoutMs ?? 30_000;
  const server = createServer(
    {
      headersTimeout: Math.min(headersTimeout, requestTimeout),
      requestTimeout,
      // How exactly the two limits above are kept.
      connectionsCheckingInterval: Math.max(100, Math.min(1_000, headersTimeout / 4)),
      keepAliveTimeout: 65_000,
    },
    app,
  );
  // A long poll or a stream is silent for as long as it likes.
  server.timeout = 0;
  server.on('clientError', connectionErrors(server));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    port,
    close: (graceMs) => (closed ??= closeServer(server, closingOf(app), graceMs)),
  };
}

async function closeServer(server: Server, closing: AbortController, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A kept-alive connection becomes idle after its last answer and would hold the server open.
  const closeIdle = setInterval(() => server.closeIdleConnections(), 20);
  const breakRest = setTimeout(() => server.closeAllConnections(), graceMs);
  closing.abort();
  await closed;
  clearInterval(closeIdle);
  clearTimeout(breakRest);
}
