import type { DataFolder } from './data-folder';
import type { Progress } from './progress';

/** What everything that starts a server needs. */
export interface ServiceContext {
  readonly folder: DataFolder;
  /** Where wheels are installed; may be shared by many data folders. */
  readonly servicesDir: string;
  /** Searched for PATH, and given to pip. */
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  readonly signal?: AbortSignal | undefined;
}

const PASSED_ON = [
  'PATH',
  'HOME',
  'USER',
  'TMPDIR',
  'TMP',
  'TEMP',
  'TZ',
  'LANG',
  'LC_ALL',
  'SystemRoot',
  'APPDATA',
];

/** The environment of a server: none of the person's secrets, and none of the variables that would change how it runs. */
export function serverEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    PASSED_ON.filter((name) => env[name] !== undefined).map((name) => [name, env[name]]),
  );
}
