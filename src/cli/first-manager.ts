import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { v7 } from 'uuid';
import { z } from 'zod';
import { DEFAULT_HOOKS } from '../domain/default-hooks';
import { configurationInputSchema } from '../domain/profile-schema';
import type { Profile } from '../domain/profile';
import { INGRESS_PATH } from '../server/manager/ingress';
import { HOOK_PATH } from '../server/manager/relay';
import { ManagerStore } from '../store/manager/manager-store';
import { openTenantStore, type TenantStore } from '../store/tenant-store';
import { writeJsonAtomically } from './embedded/atomic-file';
import { readKeys } from './first-keys';
import { parseTenants } from './service/tenant-list';
import type { PrepareContext, PreparedEnvironment } from './up/up-options';

/** Roles of the workspaces that the embedded run knows. */
const ROLES = ['forge', 'sentinel'];

const coderFile = z.object({ secret: z.string().min(32) });

/**
 * Makes what Manager needs in an embedded run: the secret that Coder is to be given, the tenant with its hook key on both
 * sides, a profile for its chats, and a key of an operator. What is there is kept; addresses are those of this run.
 */
export async function ensureFirstManager(
  { tenants, dataDir, nexusUrl, managerUrl }: PrepareContext,
  env: NodeJS.ProcessEnv,
): Promise<PreparedEnvironment> {
  const path = join(dataDir, 'keys.json');
  const before = readKeys(path);
  const known = coderFile.safeParse(before['coder']);
  const secret = known.success ? known.data.secret : randomBytes(32).toString('base64url');
  const coder = { url: `${managerUrl}${INGRESS_PATH}`, secret };
  const [first] = parseTenants(tenants);
  if (first === undefined) return { nexus: {}, manager: {} };
  const redisUrl = env['PORTCULLIS_MANAGER_REDIS'] ?? first.redisUrl;
  const onError = (): void => undefined;
  const manager = await ManagerStore.open({ url: redisUrl, onError });
  const store = await openTenantStore({ tenant: first.tenant, url: first.redisUrl, onError });
  try {
    await ensureTenant(manager, store, nexusUrl);
    await ensureRoles(store);
    await ensureDemoWorkspace(manager, first.tenant, env['PORTCULLIS_DEMO_WORKSPACE']);
    const token = before['manager'];
    const works = typeof token === 'string' && (await manager.keys.verify(token)) !== undefined;
    const createdAt = new Date().toISOString();
    const operator = works
      ? token
      : (await manager.keys.create({ owner: 'operator', scopes: ['admin'], createdAt })).token;
    writeJsonAtomically(path, { ...before, manager: operator, coder });
  } finally {
    await store.close();
    await manager.close();
  }
  return {
    nexus: { PORTCULLIS_HOOK_AUDIENCE: env['PORTCULLIS_HOOK_AUDIENCE'] ?? `${nexusUrl}${HOOK_PATH}` },
    manager: {
      PORTCULLIS_MANAGER_REDIS: redisUrl,
      CODER_HOOK_AUDIENCE: env['CODER_HOOK_AUDIENCE'] ?? coder.url,
      CODER_HOOK_SECRET: env['CODER_HOOK_SECRET'] ?? secret,
    },
  };
}

async function ensureTenant(manager: ManagerStore, store: TenantStore, nexusUrl: string): Promise<void> {
  const id = store.tenant;
  const now = new Date().toISOString();
  const before = await manager.readTenant(id);
  const tenant = {
    id,
    nexusUrl,
    state: before?.state ?? 'active',
    createdAt: before?.createdAt ?? now,
  } as const;
  if (before?.nexusUrl !== nexusUrl) await manager.putTenant({ ...tenant, updatedAt: now }, before);
  let key = await manager.currentHookKey(id);
  if (key === undefined) {
    const secret = randomBytes(32).toString('base64url');
    key = { generation: await manager.addHookKey(id, secret), secret };
  }
  await store.hookKeys.install({ ...key, installedAt: now });
}

/** Roles without a profile get one with the default hooks. */
async function ensureRoles(store: TenantStore): Promise<void> {
  const settings = await store.settings.read();
  const missing = ROLES.filter((role) => !Object.hasOwn(settings.roleProfiles, role));
  if (missing.length === 0) return;
  const now = new Date().toISOString();
  const configuration = { ...configurationInputSchema.parse({}), hooks: [...DEFAULT_HOOKS.hooks] };
  const profile: Profile = {
    ...{ id: v7(), name: 'Chats in Coder', configuration, version: 1, createdAt: now, updatedAt: now },
    defaults: { version: DEFAULT_HOOKS.version, removed: [] },
  };
  await store.profiles.put(profile, { change: 'created', by: 'portcullis' });
  const roleProfiles = {
    ...settings.roleProfiles,
    ...Object.fromEntries(missing.map((role) => [role, profile.id])),
  };
  await store.settings.write({ ...settings, roleProfiles });
}

async function ensureDemoWorkspace(
  manager: ManagerStore,
  tenantId: string,
  workspaceId: string | undefined,
): Promise<void> {
  if (workspaceId === undefined || workspaceId === '') return;
  await manager.putWorkspace({
    workspaceId: workspaceId.toLowerCase(),
    tenantId,
    role: 'forge',
    ticket: 'demo',
  });
}
