import { closeSync, fstatSync, openSync, readSync, renameSync, statSync } from 'node:fs';

const ROTATE_AT_BYTES = 5_000_000;
const TAIL_BYTES = 8_192;

/** Opens for appending; a log that has grown large becomes `<path>.old` first, so that a data folder does not fill up with logs. */
export function openLog(path: string): number {
  try {
    if (statSync(path).size > ROTATE_AT_BYTES) renameSync(path, `${path}.old`);
  } catch {
    // There is no log yet.
  }
  return openSync(path, 'a', 0o600);
}

/** The last lines that were written after `fromByte`. */
export function lastLines(path: string, fromByte: number, count: number): string[] {
  try {
    const file = openSync(path, 'r');
    try {
      const end = fstatSync(file).size;
      const start = Math.max(fromByte, end - TAIL_BYTES);
      const buffer = Buffer.alloc(Math.max(0, end - start));
      readSync(file, buffer, 0, buffer.length, start);
      const lines = buffer.toString().split('\n');
      return lines.filter((line) => line.trim() !== '').slice(-count);
    } finally {
      closeSync(file);
    }
  } catch {
    return [];
  }
}
