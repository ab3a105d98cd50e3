import { relative } from 'node:path';
import type { EmbeddedSettings } from '../embedded/embedded-settings';
import { StartError } from '../embedded/start-error';
import { listenForStop } from '../up/stop-request';
import { Cast } from './cast';
import { findSystem, type DemoSystem } from './demo-system';
import { startOwnSystem } from './own-system';
import { play } from './play';
import { StepFailed, Story } from './story';

const INTERRUPTED_EXIT_CODE = 130;

export interface DemoOptions {
  readonly settings: Pick<EmbeddedSettings, 'dataDir' | 'servicesDir'>;
  /** The `portcullis` script, for a system of the demo's own. */
  readonly command: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Plays the demo. Returns the exit code: 0 only if every step was as it should be. */
export async function runDemo(options: DemoOptions): Promise<number> {
  const end = new AbortController();
  const stopListening = listenForStop({
    onStop: (signal) => end.abort(new StartError('interrupted', `${signal}: stopping …`)),
    onForce: () => process.exit(INTERRUPTED_EXIT_CODE),
  });
  try {
    return await withSystem(options, end.signal, (system) => tell(system, end.signal));
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    console.error(error.message);
    return error.code === 'interrupted' ? INTERRUPTED_EXIT_CODE : 1;
  } finally {
    stopListening();
  }
}

async function withSystem(
  { settings, command, env }: DemoOptions,
  signal: AbortSignal,
  use: (system: DemoSystem) => Promise<number>,
): Promise<number> {
  const running = await findSystem(settings.dataDir);
  if (running !== undefined) {
    console.log(
      `Playing against the Portcullis that runs at ${running.nexus} (data in ${shown(settings.dataDir)}).`,
    );
    return use(running);
  }
  console.log(
    `Nothing runs with its data in ${shown(settings.dataDir)}, so the demo starts a Portcullis of its own.`,
  );
  console.log('(Unless Temporal and Valkey are there already, they are fetched first: about 45 MB.)');
  const { servicesDir } = settings;
  const own = await startOwnSystem({ command, servicesDir, env, signal });
  try {
    console.log(`It runs at ${own.system.nexus}.`);
    return await use(own.system);
  } finally {
    await own.stop();
    console.log('The Portcullis of the demo is stopped and its data are removed.');
  }
}

async function tell(system: DemoSystem, signal: AbortSignal): Promise<number> {
  const story = new Story((line) => console.log(line));
  try {
    await orAborted(play(story, Cast.of(system)), signal);
    console.log('\nEvery step was as it should be.');
    return 0;
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    console.error(`\n${error.message}`);
    return 1;
  }
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    promise.then(resolve, reject);
  });
}

function shown(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}
