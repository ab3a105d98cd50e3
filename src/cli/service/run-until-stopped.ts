/**
 * Resolves when the process is asked to stop: by SIGINT, SIGTERM or SIGHUP, or because the process that started it
 * over an IPC channel has gone.
 */
export function stopRequested(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, resolve);
    if (process.connected) process.once('disconnect', () => resolve('disconnect'));
    // Listening must not keep a process alive that has nothing else to do.
    process.channel?.unref();
  });
}

/** Tells the process that started this one that it works. */
export function announceReady(): void {
  process.send?.('ready');
}
