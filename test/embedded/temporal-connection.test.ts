import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection, isGrpcCancelledError } from '@temporalio/client';
import { closable } from '../../src/cli/service/temporal-connection';

/** A listener that ends every connection: what Temporal looks like while it restarts. */
async function refusing(): Promise<{ server: Server; address: string; refused: () => number }> {
  let refused = 0;
  const server = createServer((socket) => {
    refused++;
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, address: `127.0.0.1:${(server.address() as AddressInfo).port}`, refused: () => refused };
}

test('a call that waits to be repeated when its connection closes is rejected, and the process goes on', async () => {
  const { server, address, refused } = await refusing();
  const connection = Connection.lazy(closable({ address }));
  const calls = Array.from({ length: 8 }, () => connection.workflowService.getSystemInfo({}));
  const outcomes = Promise.allSettled(calls);
  while (refused() === 0) await delay(5);
  await delay(50);

  await connection.close();

  for (const outcome of await outcomes) {
    expect(outcome.status).toBe('rejected');
    if (outcome.status === 'rejected') expect(isGrpcCancelledError(outcome.reason)).toBe(true);
  }
  server.close();
});
