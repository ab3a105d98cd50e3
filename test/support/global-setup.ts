import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startServices, type EmbeddedServices } from '../../src/cli/embedded/start-services';
import { bundleWorkflows } from '../../src/workers/bundle-workflows';
import { SEARCH_ATTRIBUTES } from '../../src/workflows/search-attributes';
import { SERVICES_VARIABLE, type TestServices } from './services';

declare global {
  var portcullisServices: EmbeddedServices | undefined;
}

/** Starts one Temporal dev server and one Redis-protocol server for the run, and builds the workflow bundle once. */
export default async function globalSetup(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'portcullis-test-'));
  const services = await startServices({
    dataDir,
    servicesDir: resolve(__dirname, '../../.cache/services'),
    searchAttributes: SEARCH_ATTRIBUTES,
    dynamicConfig: { 'frontend.WorkflowTimeSkippingEnabled': true },
  });
  globalThis.portcullisServices = services;
  const bundlePath = join(dataDir, 'workflows.js');
  await writeFile(bundlePath, await bundleWorkflows());
  const forTests: TestServices = {
    temporalAddress: services.temporal.address,
    namespace: services.temporal.namespace,
    redisUrl: services.redis.url,
    bundlePath,
    dataDir,
  };
  process.env[SERVICES_VARIABLE] = JSON.stringify(forTests);
}
