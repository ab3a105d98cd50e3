import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const WORKFLOWS = join(__dirname, '..', 'workflows');

/** The code of all workflows, as a worker takes it. Built once, with the very SDK that runs it. */
export async function bundleWorkflows(): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: moduleIn('index'),
    preloadModules: [moduleIn('preloaded')],
    logger: new DefaultLogger('WARN'),
  });
  return code;
}

/** Compiled, or as source where the sources are run. */
function moduleIn(name: string): string {
  const compiled = join(WORKFLOWS, `${name}.js`);
  return existsSync(compiled) ? compiled : join(WORKFLOWS, `${name}.ts`);
}
