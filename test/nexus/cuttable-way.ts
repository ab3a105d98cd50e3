import { connect, createServer, type Server, type Socket } from 'node:net';

/** A way to a server that can be cut and opened again at the same port. */
export async function openWay(target: URL) {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let port = 0;
  const start = async (): Promise<void> => {
    server = createServer((near) => {
      const far = connect(Number(target.port), target.hostname);
      for (const socket of [near, far]) {
        sockets.add(socket);
        socket.on('error', () => undefined).on('close', () => [near, far].forEach((end) => end.destroy()));
      }
      near.pipe(far).pipe(near);
    });
    await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve));
    const address = server.address();
    if (typeof address === 'object' && address !== null) port = address.port;
  };
  const stop = async (): Promise<void> => {
    sockets.forEach((socket) => socket.destroy());
    await new Promise((resolve) => server?.close(resolve));
  };
  /** The server takes everything and answers nothing, as one that hangs. */
  const hang = (): void => {
    sockets.forEach((socket) => socket.unpipe().pause());
  };
  await start();
  return { start, stop, hang, port };
}
