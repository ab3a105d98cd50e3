import { assertPortsFree, settlePorts, type PortRequest } from './ports';
import { StartError } from './start-error';

const ATTEMPTS = 3;

/**
 * Settles the ports and starts the server with them. Between the two somebody else may take one: a port the person chose is then
 * reported as taken, and free ones (also those a server chooses inside) are chosen anew.
 */
export async function startOnPorts<K extends string, T>(
  requests: Readonly<Record<K, PortRequest>>,
  start: (ports: Record<K, number>) => Promise<T>,
): Promise<T> {
  const chosen = Object.values<PortRequest>(requests).filter(({ port }) => port !== 0);
  for (let attempt = 1; ; attempt++) {
    const ports = await settlePorts(requests);
    try {
      return await start(ports);
    } catch (error) {
      if (!(error instanceof StartError) || error.code !== 'server_died') throw error;
      await assertPortsFree(chosen);
      if (attempt === ATTEMPTS || !/address already in use/i.test(error.message)) throw error;
    }
  }
}
