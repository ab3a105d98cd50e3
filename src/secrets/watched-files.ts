/** What a file of a secret holds. `missing` is also an empty file. */
export type FileReading =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable' };

/** Reads a whole file; rejects as `node:fs/promises` does, with the `code` of the system. */
export type ReadFile = (path: string) => Promise<Uint8Array>;

/** How long a file is not read again, in milliseconds. A new secret is in use at most this much later. */
export const REREAD_AFTER_MS = 2_000;

interface Read {
  readonly at: number;
  readonly reading: Promise<FileReading>;
}

/**
 * The files that secrets come from. Concurrent readers share one read, and a failed read is kept no longer than a
 * good one. There are as many entries as the operator's map has paths.
 */
export class WatchedFiles {
  private readonly reads = new Map<string, Read>();
  private readonly values = new Map<string, readonly string[]>();

  /** @param now milliseconds of a clock that never goes back */
  constructor(
    private readonly readFile: ReadFile,
    private readonly now: () => number,
  ) {}

  read(path: string): Promise<FileReading> {
    const last = this.reads.get(path);
    if (last !== undefined && this.now() - last.at < REREAD_AFTER_MS) return last.reading;
    const reading = this.readNow(path);
    this.reads.set(path, { at: this.now(), reading });
    return reading;
  }

  /** The newest value and the one that it replaced in this process's life: a receiver may still echo that one. */
  async lastValues(path: string): Promise<readonly string[]> {
    await this.read(path);
    return this.values.get(path) ?? [];
  }

  private async readNow(path: string): Promise<FileReading> {
    const reading = await readSecretFile(this.readFile, path);
    const [newest] = this.values.get(path) ?? [];
    if (reading.kind === 'value' && reading.value !== newest) {
      this.values.set(path, newest === undefined ? [reading.value] : [reading.value, newest]);
    }
    return reading;
  }
}

async function readSecretFile(readFile: ReadFile, path: string): Promise<FileReading> {
  try {
    // Replacing what is not UTF-8 would make another secret of it.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
    const value = withoutNewline(text);
    return value === '' ? { kind: 'missing' } : { kind: 'value', value };
  } catch (error) {
    return isAbsent(error) ? { kind: 'missing' } : { kind: 'unreadable' };
  }
}

/** Editors and `echo` end a file with a newline that nobody means to be part of the secret. One is cut, not more. */
export function withoutNewline(text: string): string {
  return text.replace(/\r?\n$/, '');
}

function isAbsent(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
