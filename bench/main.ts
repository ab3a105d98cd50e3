import { writeFile } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { endMeasuringOn } from './measure';
import { table, type Row } from './report';
import { noHook, oneHook, sixteenHooks } from './rows/calls';
import { fiftyResolvers, histories, resolving } from './rows/waits';
import { startSystem, type System } from './system';

/** `--short`: fewer rounds, for a machine that is shared. The goals are the same. */
const SHORT = process.argv.includes('--short');
const rounds = (full: number): number => (SHORT ? Math.ceil(full / 4) : full);

async function measure(system: System): Promise<Row[]> {
  const rows: Row[] = [];
  for (const part of [
    () => oneHook(system, rounds(200)),
    () => resolving(system, rounds(150)),
    () => noHook(system, rounds(200)),
    () => sixteenHooks(system, rounds(60)),
    () => fiftyResolvers(system, rounds(24)),
    () => histories(system),
  ]) {
    const measured = await part();
    rows.push(...measured);
    for (const { row } of measured) console.error(`measured: ${row}`);
  }
  return rows;
}

/** Twice what a full run takes on a slow machine. */
const LONGEST_MS = 10 * 60_000;

async function main(): Promise<void> {
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort(new Error('interrupted'));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const signal = AbortSignal.any([interruption.signal, AbortSignal.timeout(LONGEST_MS)]);
  endMeasuringOn(signal);
  const system = await startSystem(signal);
  try {
    const rows = await measure(system);
    console.log(table(rows));
    const machine = {
      cores: availableParallelism(),
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      node: process.version,
      platform: `${process.platform} ${process.arch}`,
    };
    const results = { machine, versions: system.versions, short: SHORT, rows };
    await writeFile(join(__dirname, 'results.json'), `${JSON.stringify(results, null, 2)}\n`);
    if (rows.some(({ holds }) => !holds)) process.exitCode = 1;
  } finally {
    await system.stop();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  // Whatever is still open must not keep the process from ending with its error.
  process.exit(1);
});
