import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Adds a key to every request, for programs that cannot be given one. Everything else passes as it is. */
export async function startBearerProxy(
  target: string,
  token: string,
): Promise<{ url: string; close(): Promise<void> }> {
  const to = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const forwarded = request(
      {
        host: to.hostname,
        port: to.port,
        path: to.pathname + to.search,
        method: incoming.method,
        headers: { ...incoming.headers, authorization: `Bearer ${token}` },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/mcp`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
