import { createClient } from 'redis';

/** A connection that fails a command at once while the server is away, instead of queueing it without end. */
export type RedisConnection = ReturnType<typeof newConnection>;

const RECONNECT_CAP_MS = 1_000;

function newConnection(url: string) {
  return createClient({
    url,
    disableOfflineQueue: true,
    socket: {
      connectTimeout: 5_000,
      reconnectStrategy: (retries) => Math.min(20 * 2 ** Math.min(retries, 6), RECONNECT_CAP_MS),
    },
    commandsQueueMaxLength: 10_000,
  });
}

/**
 * Connects to a tenant's Redis. Reconnects by itself for as long as the process lives; `onError` hears of every
 * failure. Rejects when the first connection cannot be made.
 */
export async function connectRedis(url: string, onError: (error: Error) => void): Promise<RedisConnection> {
  const connection = newConnection(url);
  connection.on('error', (error: unknown) => {
    onError(error instanceof Error ? error : new Error(String(error)));
  });
  await connection.connect();
  return connection;
}
