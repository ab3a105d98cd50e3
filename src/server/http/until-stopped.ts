/** The promise's value, or `undefined` as soon as `stop` is aborted. Leaves no listener behind. */
export function orStopped<T>(promise: Promise<T>, stop: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const onStop = (): void => resolve(undefined);
    if (stop.aborted) onStop();
    stop.addEventListener('abort', onStop, { once: true });
    promise.then(resolve, reject).finally(() => stop.removeEventListener('abort', onStop));
  });
}

/**
 * The items of `source` until it ends or `stop` is aborted, even while the source is waiting for its next item.
 * A race against one long-lived promise would keep a reaction per item; this keeps none.
 */
export async function* untilStopped<T>(source: AsyncIterable<T>, stop: AbortSignal): AsyncGenerator<T, void> {
  const iterator = source[Symbol.asyncIterator]();
  try {
    while (!stop.aborted) {
      const next = await orStopped(iterator.next(), stop);
      if (next === undefined || next.done === true) return;
      yield next.value;
    }
  } finally {
    // A source that is still waiting answers only when it notices `stop` itself; nobody needs that answer.
    iterator.return?.().catch(() => undefined);
  }
}
