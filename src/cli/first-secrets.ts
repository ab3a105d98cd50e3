import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TENANT_SECRET } from '../secrets/secret-map';
import { writeJsonAtomically } from './embedded/atomic-file';
import { parseTenants } from './service/tenant-list';

/** The map of secrets of an embedded run, `<data>/secrets.json`. */
export function secretsFileIn(dataDir: string): string {
  return join(dataDir, 'secrets.json');
}

/**
 * Makes the secret that signs the deliveries of the embedded run's tenant, in a file that its owner only can read, and
 * the map that names it. What is there is kept, and so are further secrets that a person adds to the map.
 */
export function ensureFirstSecrets({ tenants, dataDir }: { tenants: string; dataDir: string }): void {
  const [first] = parseTenants(tenants);
  const map = secretsFileIn(dataDir);
  if (first === undefined || existsSync(map)) return;
  const folder = join(dataDir, 'secrets');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, TENANT_SECRET);
  if (!existsSync(file)) {
    writeFileSync(file, `whsec_${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  }
  writeJsonAtomically(map, { [first.tenant]: { [TENANT_SECRET]: { from: [`file:${file}`] } } });
}
