/**
 * Where a process of the fault tests kills itself, as it is written in its set-up: `<moment>-<name>:<n>`.
 *
 * `before` the n-th call of the function named, `amid` it (it has been sent and nothing is known of it), or `after` it
 * has answered. `n` counts the calls of this process, unless the one who wraps says what to count.
 */
const POINT = /^(before|amid|after)-(\w+):(\d+)$/;

/** Long enough for a request to have left the process and to be known to the other side. */
const SENT_MS = 400;

/** The same functions, of which one ends the process. Whoever calls it gets no answer and no clean-up happens. */
export function withCrashPoint<Target extends object>(
  target: Target,
  point: string | undefined,
  numberOf: (name: string, args: readonly unknown[]) => number = inOrder(),
): Target {
  if (point === undefined) return target;
  const [, moment, name = '', n] = POINT.exec(point) ?? [];
  if (!(name in target)) throw new Error(`${point} is not a crash point of this process`);
  return new Proxy(target, {
    get(of, member, receiver) {
      const found: unknown = Reflect.get(of, member, receiver);
      if (typeof found !== 'function' || member !== name) return found;
      return async (...args: unknown[]): Promise<unknown> => {
        const isHere = numberOf(name, args) === Number(n);
        if (isHere && moment === 'before') return die();
        if (isHere && moment === 'amid') setTimeout(() => void die(), SENT_MS);
        const answer: unknown = await Reflect.apply(found, of, args);
        return isHere ? die() : answer;
      };
    },
  });
}

function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise<never>(() => undefined);
}

export function inOrder(): () => number {
  let calls = 0;
  return () => (calls += 1);
}
