import type { EmbeddedSettings } from '../embedded/embedded-settings';
import type { ProgressOutput } from '../embedded/progress';
import type { SearchAttribute } from '../embedded/search-attributes';
import type { DynamicConfig } from '../embedded/temporal-server';

/** A Node process that `up` keeps running. It must end by itself when its IPC channel disconnects. */
export interface ChildCommand {
  /** The script and its arguments. */
  readonly argv: readonly string[];
  /** The child sends the string `ready` over IPC when it works, and the run is not up before. Default false. */
  readonly announcesReady?: boolean;
}

export interface UpOptions {
  readonly settings: EmbeddedSettings;
  readonly searchAttributes: readonly SearchAttribute[];
  /** Called when the servers answer and before the children start; makes the first keys. */
  prepare(context: PrepareContext): Promise<PreparedEnvironment | undefined>;
  readonly children: {
    readonly nexus: ChildCommand;
    readonly worker: ChildCommand;
    /** Absent: there is no Manager. */
    readonly manager?: ChildCommand;
  };
  /** Lines of the summary that say what to do next. */
  nextSteps(nexusUrl: string): readonly string[];
  /** Default: none beyond what every embedded server gets. */
  readonly dynamicConfig?: DynamicConfig;
  /** Default `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
  /** Default stdout and stderr. */
  readonly output?: ProgressOutput;
  readonly errors?: ProgressOutput;
}

/** What children are told beside what all of them are. */
export interface PreparedEnvironment {
  readonly nexus: NodeJS.ProcessEnv;
  readonly manager: NodeJS.ProcessEnv;
}

export interface PrepareContext {
  /** As in `PORTCULLIS_TENANTS`. Holds passwords. */
  readonly tenants: string;
  readonly dataDir: string;
  readonly nexusUrl: string;
  readonly managerUrl: string;
}
