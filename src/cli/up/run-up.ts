import { openDataFolder, type DataFolder } from '../embedded/data-folder';
import { createProgress, type Progress } from '../embedded/progress';
import { interruption, StartError } from '../embedded/start-error';
import { ReadyFile } from './ready-file';
import { startEverything } from './start-everything';
import { listenForStop } from './stop-request';
import type { UpOptions } from './up-options';
import type { UpRun } from './up-run';

/** Long enough for a worker to finish what it has in hand. */
const STOP_GRACE_MS = 15_000;
const FORCED_EXIT_CODE = 130;

/**
 * Starts everything, keeps it running and stops it again. Returns the exit code: 0 when it was asked to stop (SIGINT, SIGTERM,
 * SIGHUP), 130 when it was asked twice, 1 when something failed for good. Whatever happens, nothing it started is left running.
 */
export async function runUp(options: UpOptions): Promise<number> {
  const progress = createProgress(options.output ?? process.stdout);
  const errors = createProgress(options.errors ?? process.stderr);
  // A closed terminal is announced by SIGHUP; the failing writes to it must not end the run before it has stopped its servers.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

  const end = new AbortController();
  let folder: DataFolder | undefined;
  let forced = false;
  const stopListening = listenForStop({
    onStop: (signal) => {
      progress.line(`${signal}: stopping …`);
      end.abort(new StartError('interrupted', signal));
    },
    onForce: () => {
      forced = true;
      folder?.processes.killAll();
    },
  });
  try {
    folder = await openDataFolder(options.settings.dataDir, progress);
    const ended = await runInFolder(
      { folder, options, progress, end, ready: new ReadyFile(folder.path) },
      errors,
    );
    return forced ? FORCED_EXIT_CODE : ended === 'failed' ? 1 : 0;
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    errors.line(error.message);
    return 1;
  } finally {
    stopListening();
  }
}

/** Whatever ends the run is said before everything is stopped, since stopping may take its time. */
async function runInFolder(run: UpRun, errors: Progress): Promise<'stopped' | 'failed'> {
  const { folder, progress, ready, end } = run;
  try {
    await startEverything(run);
    await aborted(end.signal);
    throw interruption(end.signal);
  } catch (error) {
    end.abort(error);
    if (!(error instanceof StartError)) throw error;
    if (error.code === 'interrupted') return 'stopped';
    errors.line(error.message);
    return 'failed';
  } finally {
    ready.remove();
    await folder.processes.stopAll(STOP_GRACE_MS);
    folder.close();
    progress.line('Everything that was started here is stopped.');
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
