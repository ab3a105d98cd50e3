import { createClient } from 'redis';
import { boundedCommands } from './bounded-commands';

/** A connection that fails a command at once while the server is away, instead of queueing it without end. */
export type RedisConnection = ReturnType<typeof newConnection>;

const RECONNECT_CAP_MS = 1_000;

/** The first connection is given up after this time; one that was there is sought for ever. */
const FIRST_CONNECTION_MS = 10_000;

function newConnection(url: string, mayGiveUp: () => boolean) {
  const begun = Date.now();
  return createClient({
    url,
    disableOfflineQueue: true,
    socket: {
      connectTimeout: 5_000,
      reconnectStrategy: (retries, cause) =>
        mayGiveUp() && Date.now() - begun > FIRST_CONNECTION_MS
          ? cause
          : Math.min(20 * 2 ** Math.min(retries, 6), RECONNECT_CAP_MS),
    },
    commandsQueueMaxLength: 10_000,
  });
}

/**
 * Connects to a tenant's Redis. Reconnects by itself for as long as the process lives; `onError` hears of every
 * failure. Rejects when the first connection cannot be made. A command fails when the server has not answered it after
 * `commandTimeoutMs` (default 5,000).
 */
export async function connectRedis(
  url: string,
  {
    onError,
    commandTimeoutMs = 5_000,
  }: { onError: (error: Error) => void; commandTimeoutMs?: number | undefined },
): Promise<RedisConnection> {
  let connected = false;
  const connection = newConnection(url, () => !connected);
  connection.on('error', (error: unknown) => {
    onError(error instanceof Error ? error : new Error(String(error)));
  });
  await connection.connect();
  connected = true;
  return boundedCommands(connection, commandTimeoutMs);
}
