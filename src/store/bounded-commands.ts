/** The server took a command and has not answered it. Whether it was carried out is not known. */
export class StoreTimeout extends Error {
  override readonly name = 'StoreTimeout';

  constructor(ms: number) {
    super(`the store did not answer within ${ms} ms`);
  }
}

/**
 * A connection whose commands fail when the server has not answered in time. A server that hangs keeps its sockets
 * open, so nothing else would end the wait. A write that timed out may have been carried out: our writes may all be
 * repeated.
 */
export function boundedCommands<Connection extends object>(connection: Connection, ms: number): Connection {
  return new Proxy(connection, {
    get(target, property) {
      const member: unknown = Reflect.get(target, property, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        const result: unknown = Reflect.apply(member, target, args);
        return result instanceof Promise ? inTime(result, ms) : result;
      };
    },
  });
}

function inTime(answer: Promise<unknown>, ms: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new StoreTimeout(ms)), ms);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
