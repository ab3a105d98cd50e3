import { DEFAULT_HOOKS } from '../../src/domain/default-hooks';
import type { Profile } from '../../src/domain/profile';
import type { Client } from './client';
import { startNexus, stopNexus, type Nexus } from './fixture';

let nexus: Nexus;
let author: Client;

beforeAll(async () => {
  nexus = await startNexus();
  author = await nexus.key(['profiles']);
});
afterAll(stopNexus);

const ownHook = { id: 'own', point: 'before_tool_call', processor: { type: 'client' } };
const idsOf = ({ configuration }: Profile) => configuration.hooks.map(({ id }) => id);

async function made(configuration?: unknown): Promise<Profile> {
  const { status, body } = await author.post<Profile>('/v1/profiles', { name: 'p', configuration });
  expect(status).toBe(201);
  return body;
}

test('a profile without a hooks field gets six removable client approvals before tool calls', async () => {
  const profile = await made();
  const { hooks } = profile.configuration;
  expect(hooks).toHaveLength(6);
  for (const hook of hooks) {
    expect(hook).toMatchObject({
      point: 'before_tool_call',
      onFailure: 'fail_closed',
      processor: { type: 'client', asyncTimeoutMs: 86_400_000 },
    });
  }
  expect(profile.defaults).toEqual({ version: DEFAULT_HOOKS.version, removed: [] });
  expect((await made({ timeouts: { outputTimeoutMs: 5_000 } })).configuration.hooks).toHaveLength(6);
});

test('the default hooks guard the tools that the contract lists', async () => {
  const { configuration } = await made();
  expect(Object.fromEntries(configuration.hooks.map(({ id, match }) => [id, match?.tools]))).toEqual({
    'default:payments': ['payments.*', 'billing.*', 'stripe.*'],
    'default:messages': ['email.*', 'sms.*', 'slack.*', 'messages.*'],
    'default:deletion': ['files.delete', 'database.drop', 'database.delete', 'storage.delete', 'repo.delete'],
    'default:execution': [
      'shell.*',
      'code.*',
      'terminal.*',
      'Bash',
      'bash',
      'Shell',
      'shell',
      'execute',
      'run_shell_command',
    ],
    'default:deployment': ['deploy.*', 'infra.*', 'kubernetes.*', 'terraform.*'],
    'default:access': ['iam.*', 'secrets.*', 'users.*', 'permissions.*'],
  });
});

test('an empty list of hooks installs none and follows no defaults', async () => {
  const profile = await made({ hooks: [] });
  expect(profile.configuration.hooks).toEqual([]);
  expect(profile.defaults).toBeUndefined();
});

test('a list that is not empty is authoritative: defaults are not merged back in', async () => {
  const profile = await made({ hooks: [ownHook] });
  expect(idsOf(profile)).toEqual(['own']);
  const renamed = await author.patch<Profile>(
    `/v1/profiles/${profile.id}`,
    { name: 'q' },
    { 'If-Match': '*' },
  );
  expect(idsOf(renamed.body)).toEqual(['own']);
});

test('defaults of a hook are stored explicitly: what is read is the whole truth', async () => {
  const { configuration } = await made({ hooks: [ownHook] });
  expect(configuration).toEqual({
    hooks: [
      {
        ...ownHook,
        processor: {
          type: 'client',
          asyncTimeoutMs: 86_400_000,
          minApprovals: 1,
          allowSelfApproval: false,
        },
        onFailure: 'fail_closed',
        mode: 'enforce',
      },
    ],
    permissions: [],
    unmatchedTools: 'allow',
    tools: [],
    timeouts: { outputTimeoutMs: 3_600_000, approvalGrantTtlMs: 3_600_000 },
  });
});

test('a hook authored under a reserved id is kept as authored, so what was read can be written back', async () => {
  const first = await made();
  const again = await made(first.configuration);
  expect(again.configuration).toEqual(first.configuration);
  const own = await made({ hooks: [{ ...ownHook, id: 'default:payments' }] });
  expect(own.configuration.hooks).toMatchObject([{ id: 'default:payments', mode: 'enforce' }]);
});

test('a default hook that is removed is remembered as removed, whether by DELETE or by PATCH', async () => {
  const profile = await made();
  const path = `/v1/profiles/${profile.id}`;
  const removed = await author.delete<Profile>(`${path}/hooks/default:payments`);
  expect(removed.status).toBe(200);
  expect(removed.headers.get('ETag')).toBe('"2"');
  expect(idsOf(removed.body)).not.toContain('default:payments');
  expect(removed.body.defaults?.removed).toEqual(['default:payments']);
  const kept = removed.body.configuration.hooks.filter(({ id }) => id !== 'default:access');
  const patch = { configuration: { hooks: kept } };
  const patched = await author.patch<Profile>(path, patch, { 'If-Match': '"2"' });
  expect(patched.body.defaults?.removed).toEqual(['default:access', 'default:payments']);
  const { body } = await author.patch<Profile>(
    path,
    { configuration: profile.configuration },
    { 'If-Match': '"3"' },
  );
  expect(body.defaults?.removed).toEqual([]);
});

test('removing a hook that is not there is 404, and with an old ETag 412', async () => {
  const profile = await made();
  const path = `/v1/profiles/${profile.id}/hooks`;
  expect((await author.delete(`${path}/nothing`)).status).toBe(404);
  const stale = { 'If-Match': '"7"' };
  expect((await author.delete(`${path}/default:access`, stale)).status).toBe(412);
});

test('the present default hooks can be read', async () => {
  const reader = await nexus.key(['read']);
  const { status, body } = await reader.get('/v1/default-hooks');
  expect(status).toBe(200);
  expect(body).toEqual(DEFAULT_HOOKS);
});
