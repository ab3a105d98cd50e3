/**
 * The body of the guard process (see guard.ts). It travels as text to a bare `node -e`, so that it runs the same from built code
 * and from sources; therefore it uses nothing from outside its body.
 *
 * Its input has one command a line: `+ <pid> <rank>` to watch, `- <pid>` to forget. The end of the input means that the parent is
 * gone, whatever killed it: what is still watched is stopped in the order of rank, each politely first.
 */
/* istanbul ignore next */
export function guardProgram(politeMs: number): void {
  const { readFileSync } = process.getBuiltinModule('node:fs');
  const watched = new Map<number, number>();
  let unfinishedLine = '';

  const signalTo = (target: number, signal: NodeJS.Signals | 0): boolean => {
    try {
      return process.kill(target, signal);
    } catch {
      return false;
    }
  };

  // Orphans stay zombies for as long as the system's first process takes to collect them, which in some containers is for ever.
  const isZombie = (pid: number): boolean => {
    try {
      return / Z \d+ /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
    } catch {
      return false;
    }
  };

  const stop = async (pid: number): Promise<void> => {
    signalTo(pid, 'SIGTERM');
    const deadline = Date.now() + politeMs;
    while (signalTo(pid, 0) && !isZombie(pid) && Date.now() < deadline)
      await new Promise((wake) => setTimeout(wake, 25));
    signalTo(-pid, 'SIGKILL');
  };

  const stopAll = async (): Promise<void> => {
    const inOrder = [...watched].sort(([, left], [, right]) => left - right);
    for (const [pid] of inOrder) await stop(pid);
    process.exit(0);
  };

  // The parent decides when its processes end; a signal to everything at once must not silence the guard before the parent is gone.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (chunk) => {
    const lines = (unfinishedLine + chunk.toString()).split('\n');
    unfinishedLine = lines.pop() ?? '';
    for (const line of lines) {
      const [command, pid, rank] = line.split(' ');
      if (command === '+') watched.set(Number(pid), Number(rank));
      else watched.delete(Number(pid));
    }
  });
  process.stdin.once('error', () => void stopAll());
  process.stdin.once('end', () => void stopAll());
}
