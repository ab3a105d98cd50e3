import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SCOPES, type Scope } from '../domain/principal';
import { openTenantStore, type TenantStore } from '../store/tenant-store';
import { writeJsonAtomically } from './embedded/atomic-file';
import { SettingsError } from './service/settings-error';
import { parseTenants } from './service/tenant-list';

/** Three owners, so that whoever asks for a call is not who approves it. */
const FIRST_KEYS = {
  agent: ['calls'],
  approver: ['waits:resolve', 'read'],
  admin: SCOPES,
} as const satisfies Record<string, readonly Scope[]>;

/** Other members, such as what Coder is to be given, are kept. */
const keysFile = z.record(z.string(), z.unknown());

/**
 * Makes the first keys of the embedded run's tenant and writes their tokens to `<data>/keys.json`, readable by its
 * owner only. Keys that are there and work are kept.
 */
export async function ensureFirstKeys({
  tenants,
  dataDir,
}: {
  tenants: string;
  dataDir: string;
}): Promise<void> {
  const [first] = parseTenants(tenants);
  if (first === undefined) return;
  const path = join(dataDir, 'keys.json');
  let lost: Error | undefined;
  const store = await openTenantStore({
    tenant: first.tenant,
    url: first.redisUrl,
    onError: (error) => (lost = error),
  });
  try {
    const before = readKeys(path);
    const after: Record<string, unknown> = { ...before };
    for (const [owner, scopes] of Object.entries(FIRST_KEYS)) {
      const token = before[owner];
      if (typeof token !== 'string' || (await store.apiKeys.verify(token)) === undefined) {
        after[owner] = await newKey(store, owner, scopes);
      }
    }
    if (JSON.stringify(after) !== JSON.stringify(before)) writeJsonAtomically(path, after);
  } catch (error) {
    throw lost ?? error;
  } finally {
    await store.close();
  }
}

async function newKey(store: TenantStore, owner: string, scopes: readonly Scope[]): Promise<string> {
  const { token } = await store.apiKeys.create({ owner, scopes, createdAt: new Date().toISOString() });
  return token;
}

/** @throws SettingsError for a file that is not what was written */
export function readKeys(path: string): Record<string, unknown> {
  if (!existsSync(path)) return {};
  try {
    return keysFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    throw new SettingsError(
      `${path} is not readable as JSON with one token per name; move it away and new keys are made`,
      {
        cause,
      },
    );
  }
}
