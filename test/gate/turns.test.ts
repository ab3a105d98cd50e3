import { KeyedTurns } from '../../src/server/keyed-turns';

const never = (): Promise<never> => new Promise(() => undefined);

test('tasks of one key take turns in the order in which they came, and those of other keys do not wait', async () => {
  const turns = new KeyedTurns(60_000);
  const seen: string[] = [];
  let release = (): void => undefined;
  const first = turns.run('a', async () => {
    await new Promise<void>((resolve) => (release = resolve));
    seen.push('a1');
  });
  const second = turns.run('a', async () => void seen.push('a2'));
  const third = turns.run('a', async () => void seen.push('a3'));
  await turns.run('b', async () => void seen.push('b1'));
  release();
  await Promise.all([first, second, third]);
  expect(seen).toEqual(['b1', 'a1', 'a2', 'a3']);
});

test('a task that gets no answer holds up the others only for the patience they have', async () => {
  const turns = new KeyedTurns(20);
  void turns.run('a', never);
  await expect(turns.run('a', async () => 'went on')).resolves.toBe('went on');
});

test('a task that fails passes its turn on, and its failure to whoever asked', async () => {
  const turns = new KeyedTurns(60_000);
  const failing = turns.run('a', () => Promise.reject(new Error('no')));
  const next = turns.run('a', async () => 'next');
  await expect(failing).rejects.toThrow('no');
  await expect(next).resolves.toBe('next');
});
