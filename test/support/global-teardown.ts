import { rm } from 'node:fs/promises';
import { testServices } from './services';

export default async function globalTeardown(): Promise<void> {
  await globalThis.portcullisServices?.stop();
  await rm(testServices().dataDir, { recursive: true, force: true });
}
