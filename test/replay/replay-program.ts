import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';

/** Replays every history of a folder and prints `{ "<file>": "<error>" | null }`. Run by replay.test.ts. */
async function main([bundlePath, folder]: string[]): Promise<void> {
  if (bundlePath === undefined || folder === undefined) throw new Error('name the bundle and the folder');
  Runtime.install({ logger: new DefaultLogger('ERROR', (entry) => console.error(entry.message)) });
  const results: Record<string, string | null> = {};
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
    const history: unknown = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    try {
      await Worker.runReplayHistory({ workflowBundle: { codePath: bundlePath } }, history);
      results[file] = null;
    } catch (error) {
      results[file] = String(error);
    }
  }
  console.log(JSON.stringify(results));
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  // Whatever is still open must not keep the process from ending with its error.
  process.exit(1);
});
