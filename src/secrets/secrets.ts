import { readFile } from 'node:fs/promises';
import { hostMatches } from './host-pattern';
import type { MappedSecret, SecretMap } from './secret-map';
import type { SecretSource } from './secret-source';
import { WatchedFiles, withoutNewline, type FileReading, type ReadFile } from './watched-files';

export type SecretReading =
  /** The current value, and second the previous one while a rotation lasts. */
  | { readonly ok: true; readonly values: readonly [string, ...string[]] }
  /** One sentence for whoever wrote the profile: it has the secret's name, and neither a value nor its source. */
  | {
      readonly ok: false;
      readonly code: 'secret_missing' | 'secret_not_for_host' | 'secret_unreadable';
      readonly text: string;
    };

export interface SecretsGiven {
  /** Read anew at every call. */
  readonly env: NodeJS.ProcessEnv;
  /** Default: `node:fs/promises`. */
  readonly readFile?: ReadFile;
  /** Milliseconds of a clock that never goes back. Default: `performance.now`. */
  readonly now?: () => number;
}

/**
 * The values behind the names of secrets, as they are now.
 *
 * - S1: a value goes only to a host that the operator's map allows; the host is checked before anything is read.
 * - S2: a changed file is in use within `REREAD_AFTER_MS`, without a restart.
 * - S3: without its current value a secret is missing, even if the previous one is there. A previous value that is
 *   missing means that the rotation is over; one that cannot be read is a fault, because receivers may need it.
 */
export class Secrets {
  private readonly files: WatchedFiles;
  private readonly env: NodeJS.ProcessEnv;

  constructor(
    private readonly map: SecretMap,
    given: SecretsGiven,
  ) {
    this.env = given.env;
    this.files = new WatchedFiles(
      given.readFile ?? ((path) => readFile(path)),
      given.now ?? (() => performance.now()),
    );
  }

  /** For a service whose operator mapped no secrets. */
  static none(): Secrets {
    return new Secrets(new Map(), { env: {} });
  }

  /** @param forHost where the value will be sent, as `URL.hostname` spells it (without a port) */
  async values(tenant: string, name: string, forHost: string): Promise<SecretReading> {
    const secret = this.map.get(tenant)?.get(name);
    if (secret === undefined) return refused('secret_missing', `The operator mapped no secret ${name}.`);
    if (!mayGoTo(secret, forHost)) {
      return refused('secret_not_for_host', `The secret ${name} may not be sent to this host.`);
    }
    const [current, previous] = await Promise.all([
      this.read(secret.current),
      secret.previous && this.read(secret.previous),
    ]);
    if (current.kind === 'missing') {
      return refused('secret_missing', `The secret ${name} is mapped, but its current value is not there.`);
    }
    if (current.kind === 'unreadable' || previous?.kind === 'unreadable') {
      return refused('secret_unreadable', `The secret ${name} is mapped, but cannot be read.`);
    }
    const values: [string, ...string[]] = [current.value];
    if (previous?.kind === 'value' && previous.value !== current.value) values.push(previous.value);
    return { ok: true, values };
  }

  /**
   * Every value of a tenant that a receiver may have and send back, so that it can be struck out of what is kept:
   * current and previous ones, and what a file held before it changed. What cannot be read is left out. Longest
   * first, so that no part of a value survives the removal of a shorter one.
   */
  async all(tenant: string): Promise<readonly string[]> {
    const sources = [...(this.map.get(tenant)?.values() ?? [])].flatMap(({ current, previous }) =>
      previous === undefined ? [current] : [current, previous],
    );
    const values = await Promise.all(sources.map((source) => this.lastValues(source)));
    return [...new Set(values.flat())].sort((one, other) => other.length - one.length);
  }

  private read(source: SecretSource): Promise<FileReading> {
    if (source.kind === 'file') return this.files.read(source.path);
    const value = this.variable(source.variable);
    return Promise.resolve(value === '' ? { kind: 'missing' } : { kind: 'value', value });
  }

  private async lastValues(source: SecretSource): Promise<readonly string[]> {
    if (source.kind === 'file') return this.files.lastValues(source.path);
    const value = this.variable(source.variable);
    return value === '' ? [] : [value];
  }

  private variable(name: string): string {
    return withoutNewline(this.env[name] ?? '');
  }
}

function mayGoTo({ hosts }: MappedSecret, host: string): boolean {
  return hosts === undefined || hosts.some((pattern) => hostMatches(pattern, host));
}

function refused(code: Extract<SecretReading, { ok: false }>['code'], text: string): SecretReading {
  return { ok: false, code, text };
}
