import { DEFAULT_HOOKS, type DefaultHookSet } from '../../src/domain/default-hooks';
import type { Profile } from '../../src/domain/profile';
import { startNexus, stopNexus } from './fixture';

const [template] = DEFAULT_HOOKS.hooks;
if (template === undefined) throw new Error('there are default hooks');
const NEWER: DefaultHookSet = {
  version: 2,
  hooks: [...DEFAULT_HOOKS.hooks, { ...template, id: 'default:browsing' }],
};

afterAll(stopNexus);

const old = (id: string, hooks = DEFAULT_HOOKS.hooks): Profile => ({
  id,
  name: 'old',
  configuration: {
    hooks: [...hooks],
    permissions: [],
    unmatchedTools: 'allow' as const,
    tools: [],
    timeouts: { outputTimeoutMs: 3_600_000, approvalGrantTtlMs: 3_600_000 },
  },
  version: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  defaults: { version: 1, removed: [] },
});

test('an owner can upgrade one profile by hand, and again without effect', async () => {
  const nexus = await startNexus({ defaultHooks: NEWER });
  const author = await nexus.key(['profiles']);
  await nexus.store.profiles.put(old('p1'), { change: 'created', by: 'x' });
  const first = await author.post<{ profile: Profile }>('/v1/profiles/p1/defaults/upgrade');
  expect(first.status).toBe(200);
  expect(first.headers.get('ETag')).toBe('"2"');
  expect(first.body).toMatchObject({ result: 'upgraded', added: ['default:browsing'] });
  const again = await author.post('/v1/profiles/p1/defaults/upgrade');
  expect(again.body).toMatchObject({ result: 'current', added: [], profile: { version: 2 } });
});

test('an upgrade that cannot be made says what to do instead', async () => {
  const nexus = await startNexus({ defaultHooks: NEWER });
  const author = await nexus.key(['profiles']);
  const full = Array.from({ length: 10 }, (_, at) => ({ ...template, id: `own-${at}` }));
  await nexus.store.profiles.put(old('full', [...DEFAULT_HOOKS.hooks, ...full]), {
    change: 'created',
    by: 'x',
  });
  const { status, body } = await author.post('/v1/profiles/full/defaults/upgrade');
  expect(status).toBe(409);
  expect(body).toMatchObject({
    type: '/problems/conflict',
    missing: ['default:browsing'],
    detail: expect.stringContaining('remove some'),
  });
  const own = await author.post<Profile>('/v1/profiles', { name: 'own', configuration: { hooks: [] } });
  const refused = await author.post(`/v1/profiles/${own.body.id}/defaults/upgrade`);
  expect(refused.status).toBe(409);
  expect(refused.body).toMatchObject({ detail: expect.stringContaining('/v1/default-hooks') });
  expect((await author.post('/v1/profiles/nothing/defaults/upgrade')).status).toBe(404);
});
