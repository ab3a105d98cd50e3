import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ToolRequestSeen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** What a server of tools answers: JSON, or whatever it does with the response itself. */
export type ToolBehaviour = (
  seen: ToolRequestSeen,
  response: ServerResponse,
) => object | undefined | Promise<object | undefined>;

/** A server of HTTP tools on loopback that counts what it is asked to do. */
export interface ToolServer {
  readonly url: string;
  readonly seen: readonly ToolRequestSeen[];
  behave(behaviour: ToolBehaviour): void;
  close(): Promise<void>;
}

export async function startToolServer(first: ToolBehaviour = () => ({ ok: true })): Promise<ToolServer> {
  let behaviour = first;
  const seen: ToolRequestSeen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const one = { method, path, headers, text: Buffer.concat(chunks).toString() };
      seen.push(one);
      void (async () => {
        const answer = await behaviour(one, response);
        if (answer === undefined) return;
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(answer));
      })();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    seen,
    behave: (next) => {
      behaviour = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
