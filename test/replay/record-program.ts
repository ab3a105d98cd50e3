import { existsSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { workflowIdOf } from '../support/decoded-history';
import { startStack } from '../support/stack';
import { RECORDED_PATHS } from './paths';

/** Records the histories that are missing. Run by replay.test.ts, in a process without jest's module registry. */
async function main([folder]: string[]): Promise<void> {
  if (folder === undefined) throw new Error('name the folder of the histories');
  for (const path of RECORDED_PATHS) {
    const file = join(folder, `${path.name}.json`);
    if (existsSync(file)) continue;
    const stack = await startStack({ skipTime: path.skipTime ?? false });
    const id = await path.play(stack);
    const handle = stack.client.workflow.getHandle(workflowIdOf(stack.tenant, id));
    // Identities and sticky queues name the process and the host that recorded; nobody needs to know.
    const json = historyToJSON(await handle.fetchHistory()).replaceAll(
      `${process.pid}@${hostname()}`,
      'recorder',
    );
    writeFileSync(file, `${json}\n`);
    await stack.stop();
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  // Whatever is still open must not keep the process from ending with its error.
  process.exit(1);
});
