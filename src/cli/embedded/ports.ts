import { createServer, type Server } from 'node:net';

import { StartError } from './start-error';

export interface PortRequest {
  /** As a sentence would call its user, e.g. "Temporal". */
  readonly use: string;
  readonly setting: string;
  /** 0 takes a free one. */
  readonly port: number;
}

const LOOPBACK = '127.0.0.1';

/**
 * Settles all ports at once, so that two requests for a free one never get the same. Throws `StartError` `port_taken`. The ports are
 * free again when this returns; who loses the race until its server listens is told by `assertPortsFree` afterwards.
 */
export async function settlePorts<K extends string>(
  requests: Readonly<Record<K, PortRequest>>,
): Promise<Record<K, number>> {
  const held: Server[] = [];
  const ports: Partial<Record<K, number>> = {};
  try {
    for (const [key, request] of Object.entries(requests) as [K, PortRequest][]) {
      const server = await hold(request);
      held.push(server);
      const address = server.address();
      ports[key] = typeof address === 'object' && address !== null ? address.port : request.port;
    }
  } finally {
    await Promise.all(held.map((server) => new Promise((closed) => server.close(closed))));
  }
  return ports as Record<K, number>;
}

/** Throws `StartError` `port_taken` for the first that somebody listens on. */
export async function assertPortsFree(requests: readonly PortRequest[]): Promise<void> {
  for (const request of requests) await settlePorts({ request });
}

function hold(request: PortRequest): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => reject(portError(request, error)));
    server.listen({ port: request.port, host: LOOPBACK, exclusive: true }, () => resolve(server));
  });
}

function portError({ use, setting, port }: PortRequest, error: NodeJS.ErrnoException): StartError {
  const what = error.code === 'EACCES' ? 'may not be used by this account' : 'is already in use';
  return new StartError(
    'port_taken',
    `Port ${port} for ${use} ${what}. Stop what uses it, or choose another port with ${setting} (0 takes a free one).`,
    { cause: error },
  );
}
