const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * `npm start` passes a Ctrl-C on to a process that the terminal has already told, so one key press arrives twice. Only a second
 * signal that comes later than this is impatience.
 */
const SAME_PRESS_MS = 1_000;

export interface StopRequestListeners {
  readonly onStop: (signal: NodeJS.Signals) => void;
  /** A second, later signal: stop at once. */
  readonly onForce: (signal: NodeJS.Signals) => void;
}

/** Returns a function that takes the listeners away again. */
export function listenForStop({ onStop, onForce }: StopRequestListeners): () => void {
  let firstAt: number | undefined;
  const listen = (signal: NodeJS.Signals): void => {
    if (firstAt === undefined) {
      firstAt = Date.now();
      onStop(signal);
    } else if (Date.now() - firstAt > SAME_PRESS_MS) {
      onForce(signal);
    }
  };
  for (const signal of STOP_SIGNALS) process.on(signal, listen);
  return () => {
    for (const signal of STOP_SIGNALS) process.off(signal, listen);
  };
}
