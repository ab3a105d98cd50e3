import type { DataFolder } from '../embedded/data-folder';
import type { Progress } from '../embedded/progress';
import type { ReadyFile } from './ready-file';
import type { UpOptions } from './up-options';

export interface UpRun {
  readonly folder: DataFolder;
  readonly options: UpOptions;
  readonly progress: Progress;
  readonly ready: ReadyFile;
  /** Aborted with the reason for which the run ends. */
  readonly end: AbortController;
}
