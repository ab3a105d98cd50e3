import { DEFAULT_SETTINGS } from '../../src/domain/settings';
import { DEFAULT_HOOKS, type DefaultHookSet } from '../../src/domain/default-hooks';
import type { Profile } from '../../src/domain/profile';
import { upgradeAllDefaults } from '../../src/server/nexus/upgrade-defaults';
import type { Client } from './client';
import { silent, startNexus, stopNexus, type Nexus } from './fixture';

const [template] = DEFAULT_HOOKS.hooks;
if (template === undefined) throw new Error('there are default hooks');
const added = ['default:browsing', 'default:storage'];
const NEWER: DefaultHookSet = {
  version: 2,
  hooks: [...DEFAULT_HOOKS.hooks, ...added.map((id) => ({ ...template, id }))],
};

let nexus: Nexus;
let author: Client;

beforeEach(async () => {
  nexus = await startNexus();
  author = await nexus.key(['profiles', 'read']);
});
afterEach(stopNexus);

const idsOf = ({ configuration }: Profile) => configuration.hooks.map(({ id }) => id);
const read = async (id: string) => (await author.get<Profile>(`/v1/profiles/${id}`)).body;
const upgradeAll = () => upgradeAllDefaults(nexus.store, NEWER, silent);

async function made(configuration?: unknown): Promise<Profile> {
  return (await author.post<Profile>('/v1/profiles', { name: 'p', configuration })).body;
}

async function changesOf(id: string): Promise<unknown[]> {
  const { body } = await author.get<string>('/v1/audit?type=profile_changed');
  const lines = body.split('\n').filter((line) => line !== '');
  return lines
    .map((line) => (JSON.parse(line) as { data: { profileId: string } }).data)
    .filter(({ profileId }) => profileId === id);
}

const clientHook = (id: string) => ({ id, point: 'before_tool_call', processor: { type: 'client' } });

test('a newly added default reaches a profile that follows the defaults, appended in order and audited', async () => {
  const { id, configuration } = await made();
  await expect(upgradeAll()).resolves.toEqual({ upgraded: [id], left: [] });
  const after = await read(id);
  expect(idsOf(after)).toEqual([...configuration.hooks.map((hook) => hook.id), ...added]);
  expect(after).toMatchObject({ version: 2, defaults: { version: 2, removed: [] } });
  expect(await changesOf(id)).toEqual([
    { profileId: id, version: 1, change: 'created', by: 'profiles+read' },
    { profileId: id, version: 2, change: 'defaults_upgraded', by: 'portcullis', added },
  ]);
});

test('a hook authored under the id of a new default is not overwritten', async () => {
  const { id, configuration } = await made();
  const own = { ...clientHook('default:browsing'), match: { tools: ['mine'] } };
  const patch = { configuration: { hooks: [...configuration.hooks, own] } };
  await author.patch(`/v1/profiles/${id}`, patch, { 'If-Match': '"1"' });
  await upgradeAll();
  const { configuration: after } = await read(id);
  expect(after.hooks.find((hook) => hook.id === 'default:browsing')?.match?.tools).toEqual(['mine']);
  expect(after.hooks.at(-1)?.id).toBe('default:storage');
  expect(after.hooks).toHaveLength(8);
});

test('a default that its owner removed does not come back', async () => {
  const { id } = await made();
  await author.delete(`/v1/profiles/${id}/hooks/default:access`);
  await upgradeAll();
  expect(idsOf(await read(id))).not.toContain('default:access');
});

test('a profile with its own list, or with none, is left alone', async () => {
  const own = await made({ hooks: [clientHook('own')] });
  const none = await made({ hooks: [] });
  await expect(upgradeAll()).resolves.toEqual({ upgraded: [], left: [] });
  expect((await read(own.id)).version).toBe(1);
  expect((await read(none.id)).version).toBe(1);
});

test('an upgrade is safe to repeat', async () => {
  const { id } = await made();
  await upgradeAll();
  await expect(upgradeAll()).resolves.toEqual({ upgraded: [], left: [] });
  expect((await read(id)).version).toBe(2);
});

test('two servers that start at once upgrade each profile once', async () => {
  const profiles = await Promise.all(Array.from({ length: 12 }, () => made()));
  const reports = await Promise.all([upgradeAll(), upgradeAll(), upgradeAll()]);
  const upgraded = reports.flatMap((report) => report.upgraded);
  expect(upgraded.toSorted()).toEqual(profiles.map(({ id }) => id).toSorted());
  for (const { id } of profiles) expect((await read(id)).version).toBe(2);
});

test("an owner's edit at the same time is not lost", async () => {
  const { id } = await made();
  const edit = (at: number) => author.patch(`/v1/profiles/${id}`, { name: `n${at}` }, { 'If-Match': '*' });
  await Promise.all([upgradeAll(), edit(1), edit(2), upgradeAll(), edit(3)]);
  const after = await read(id);
  expect(after.version).toBe(5);
  expect(after.name).toMatch(/^n\d$/);
  expect(idsOf(after).slice(-2)).toEqual(added);
});

test('a profile that would pass 16 hooks is left whole and reported', async () => {
  const { id, configuration } = await made();
  const many = Array.from({ length: 9 }, (_, index) => clientHook(`own-${index}`));
  const patch = { configuration: { hooks: [...configuration.hooks, ...many] } };
  expect((await author.patch(`/v1/profiles/${id}`, patch, { 'If-Match': '"1"' })).status).toBe(200);
  await expect(upgradeAll()).resolves.toEqual({ upgraded: [], left: [{ profileId: id, missing: added }] });
  expect(await read(id)).toMatchObject({ version: 2, defaults: { version: 1 } });
});

test('a tenant that made it manual is not upgraded by a start', async () => {
  const { id } = await made();
  await nexus.store.settings.write({ ...DEFAULT_SETTINGS, defaultHooks: 'manual' });
  await expect(upgradeAll()).resolves.toEqual({ upgraded: [], left: [] });
  expect((await read(id)).version).toBe(1);
});

test('a deleted profile is not upgraded', async () => {
  const { id } = await made();
  await author.delete(`/v1/profiles/${id}`, { 'If-Match': '"1"' });
  await expect(upgradeAll()).resolves.toEqual({ upgraded: [], left: [] });
});
