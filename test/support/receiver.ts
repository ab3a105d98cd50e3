import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One delivery as a receiver got it. */
export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly input: any;
}

/** What a receiver answers: a HookResult, or anything else it likes to do with the response. */
export type Behaviour = (
  received: Received,
  response: ServerResponse,
) => object | undefined | Promise<object | undefined>;

/** A hook's receiver on loopback: a real server that keeps what it got. */
export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
}

export const DEFER = { decision: 'defer' } as const;

export async function startReceiver(first: Behaviour = () => DEFER): Promise<Receiver> {
  let behaviour = first;
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const delivery = { headers: request.headers, text, input: JSON.parse(text) };
      received.push(delivery);
      void (async () => {
        const answer = await behaviour(delivery, response);
        if (answer === undefined) return;
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(answer));
      })();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/hook`,
    received,
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
