import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { startManager } from '../../src/server/manager/start-manager';
import type { Listening } from '../../src/server/http/listen';
import { ManagerStore } from '../../src/store/manager/manager-store';
import { Api } from '../support/api';
import { Scene } from '../support/scene';
import { testServices } from '../support/services';
import { startStack, type Stack } from '../support/stack';
import { AUDIENCE, SECRET, signed, type Spoiled } from './fixture';

/** Manager between a sender that signs as Coder does, and a Nexus: the real one, or one that misbehaves. */
export const OLD_SECRET = 'the-old-secret-that-is-still-accepted-for-now';
export const BUDGET_MS = 1_200;

interface World {
  stack: Stack;
  store: ManagerStore;
  manager: Listening;
  operator: Api;
}

/** What runs while the tests of a file do. */
export const world = {} as World;
export const fakes: Server[] = [];

/** Starts and ends Manager, a Nexus with its worker, and whatever stands in for other ones. */
export function useManager(): void {
  beforeAll(async () => {
    world.stack = await startStack();
    world.store = await ManagerStore.open({
      url: testServices().redisUrl,
      onError: () => undefined,
      name: `manager-${randomUUID().slice(0, 8)}`,
    });
    world.manager = await startManager({
      ...{ store: world.store, audience: AUDIENCE, secrets: [SECRET, OLD_SECRET], name: 'manager' },
      ...{ budgetMs: BUDGET_MS, host: '127.0.0.1', port: 0, log: pino({ level: 'silent' }) },
    });
    const { token } = await world.store.keys.create({
      owner: 'op',
      scopes: ['admin'],
      createdAt: new Date().toISOString(),
    });
    world.operator = new Api(world.manager.url, token);
  });
  afterAll(async () => {
    for (const fake of fakes) fake.closeAllConnections();
    await Promise.all(fakes.map((fake) => new Promise((resolve) => fake.close(resolve))));
    await world.manager.close(0);
    await world.store.close();
    await world.stack.stop();
  });
}

export interface Tenant {
  readonly id: string;
  readonly workspace: string;
  readonly secret: string;
}

/** A tenant with one workspace, whose Nexus is at the address. */
export async function tenantAt(nexusUrl: string, more: object = {}): Promise<Tenant> {
  const id = `t-${randomUUID().slice(0, 8)}`;
  const workspace = randomUUID();
  const made = await world.operator.post('/api/v1/tenants', { id, nexusUrl, ...more });
  expect(made.status).toBe(201);
  const { body: key } = await world.operator.post(`/api/v1/tenants/${id}/hook-keys`);
  const put = await world.operator.put(`/api/v1/tenants/${id}/workspaces/${workspace}`, {
    role: 'forge',
    ticket: 'T-1',
  });
  expect(put.status).toBe(204);
  return { id, workspace, secret: key.secret };
}

export async function nexusThat(answers: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => answers(request, response));
  });
  fakes.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export async function send(workspace: string | undefined, { meta, claims, ...spoiled }: Spoiled = {}) {
  const now = Math.floor(Date.now() / 1_000);
  const { authorization, bytes, dispatchId, chatId } = await signed({
    meta: { workspace_id: workspace, ...meta },
    claims: { iat: now, nbf: now - 30, exp: now + 32, ...claims },
    ...spoiled,
  });
  const began = performance.now();
  const response = await fetch(`${world.manager.url}/api/v1/hooks/coder/chat`, {
    method: 'POST',
    headers: authorization === undefined ? {} : { authorization },
    body: bytes,
  });
  const text = await response.text();
  return {
    status: response.status,
    text,
    signature: response.headers.get('coder-hook-signature'),
    ms: performance.now() - began,
    dispatchId,
    chatId,
  };
}

export const lastEvent = async () => (await world.store.lastEvents(1))[0]?.event;

/** The real Nexus, as the tenant whose stack this is. */
export async function realTenant(hooks: Parameters<typeof Scene.set>[1] = []) {
  const scene = await Scene.set(world.stack, hooks);
  const { body } = await scene.admin.get('/v1/settings');
  await scene.admin.put('/v1/settings', { ...body, roleProfiles: { forge: scene.profileId } });
  const workspace = randomUUID();
  const hookAudience = 'https://nexus.example.com/experimental/hooks/chat';
  if ((await world.operator.get(`/api/v1/tenants/${world.stack.tenant}`)).status === 404) {
    await world.operator.post('/api/v1/tenants', {
      id: world.stack.tenant,
      nexusUrl: world.stack.nexus.url,
      hookAudience,
    });
  }
  const { body: key } = await world.operator.post(`/api/v1/tenants/${world.stack.tenant}/hook-keys`);
  await scene.admin.put(`/v1/hook-keys/${key.generation}`, { secret: key.secret });
  await world.operator.put(`/api/v1/tenants/${world.stack.tenant}/workspaces/${workspace}`, {
    role: 'forge',
    ticket: 'T-1',
  });
  return { scene, workspace };
}
