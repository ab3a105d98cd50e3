import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseSecretMap } from '../../src/secrets/secret-map';
import { Secrets } from '../../src/secrets/secrets';
import { REREAD_AFTER_MS } from '../../src/secrets/watched-files';

const HOST = 'hooks.example.com';

/** Files in memory and a clock that stands still until it is moved. */
function scene(map: unknown, env: NodeJS.ProcessEnv = {}) {
  const files = new Map<string, string | Uint8Array | Error>();
  const reads: string[] = [];
  let time = 0;
  const secrets = new Secrets(parseSecretMap(JSON.stringify(map)), {
    env,
    now: () => time,
    readFile: async (path) => {
      reads.push(path);
      const content = files.get(path) ?? Object.assign(new Error(path), { code: 'ENOENT' });
      if (content instanceof Error) throw content;
      return typeof content === 'string' ? Buffer.from(content) : content;
    },
  });
  return { secrets, files, reads, pass: (ms: number) => void (time += ms) };
}

const NEW_AND_OLD = { acme: { hook: { from: ['file:/secrets/new', 'file:/secrets/old'] } } };

test('a variable and a file give their values, the current one first', async () => {
  const { secrets, files } = scene(
    { acme: { hook: { from: ['file:/secrets/a', 'env:OLD'] } } },
    { OLD: 'old' },
  );
  files.set('/secrets/a', 'new');
  expect(await secrets.values('acme', 'hook', HOST)).toEqual({ ok: true, values: ['new', 'old'] });
});

test('a variable that changes is read anew', async () => {
  const env: NodeJS.ProcessEnv = { A: 'one' };
  const { secrets } = scene({ acme: { hook: { from: ['env:A'] } } }, env);
  expect(await secrets.values('acme', 'hook', HOST)).toEqual({ ok: true, values: ['one'] });
  env['A'] = 'two';
  expect(await secrets.values('acme', 'hook', HOST)).toEqual({ ok: true, values: ['two'] });
});

test.each([
  ['value\n', 'value'],
  ['value\r\n', 'value'],
  ['value\n\n', 'value\n'],
  [' value ', ' value '],
])('one trailing newline is cut and nothing else: %j', async (content, value) => {
  const { secrets, files } = scene(
    { acme: { hook: { from: ['file:/secrets/a'] }, env: { from: ['env:A'] } } },
    { A: content },
  );
  files.set('/secrets/a', content);
  expect(await secrets.values('acme', 'hook', HOST)).toEqual({ ok: true, values: [value] });
  expect(await secrets.values('acme', 'env', HOST)).toEqual({ ok: true, values: [value] });
});

describe('what is missing or cannot be read is told apart, without value or source', () => {
  const denied = Object.assign(new Error('EACCES: /secrets/new'), { code: 'EACCES' });
  test.each<[string, string, Record<string, string | Uint8Array | Error>]>([
    ['no file', 'secret_missing', {}],
    ['an empty file', 'secret_missing', { '/secrets/new': '' }],
    ['a file with one newline', 'secret_missing', { '/secrets/new': '\n' }],
    ['only the previous value', 'secret_missing', { '/secrets/old': 'old-value' }],
    ['a file that may not be read', 'secret_unreadable', { '/secrets/new': denied }],
    ['a file that is not UTF-8', 'secret_unreadable', { '/secrets/new': Uint8Array.of(0xff, 0xfe) }],
    [
      'a previous file that may not be read',
      'secret_unreadable',
      { '/secrets/new': 'new-value', '/secrets/old': denied },
    ],
  ])('%s', async (_what, code, contents) => {
    const { secrets, files } = scene(NEW_AND_OLD);
    for (const [path, content] of Object.entries(contents)) files.set(path, content);
    const reading = await secrets.values('acme', 'hook', HOST);
    expect(reading).toEqual({ ok: false, code, text: expect.stringMatching(/^[^\n]*\bhook\b[^\n]*\.$/) });
    expect(JSON.stringify(reading)).not.toMatch(/\/secrets|-value|EACCES/);
  });

  test('an unset and an empty variable', async () => {
    const { secrets } = scene(
      { acme: { a: { from: ['env:UNSET'] }, b: { from: ['env:EMPTY'] } } },
      { EMPTY: '' },
    );
    expect(await secrets.values('acme', 'a', HOST)).toMatchObject({ ok: false, code: 'secret_missing' });
    expect(await secrets.values('acme', 'b', HOST)).toMatchObject({ ok: false, code: 'secret_missing' });
  });

  test.each([
    ['another tenant', 'beta', 'hook'],
    ['another name', 'acme', 'other'],
    ['an inherited name', 'acme', 'constructor'],
  ])('%s', async (_what, tenant, name) => {
    const { secrets } = scene({ acme: { hook: { from: ['env:A'] } } }, { A: 'value' });
    expect(await secrets.values(tenant, name, HOST)).toMatchObject({ ok: false, code: 'secret_missing' });
  });
});

test('without a map every secret is missing and nothing is to be scrubbed', async () => {
  expect(await Secrets.none().values('acme', 'default', HOST)).toMatchObject({ code: 'secret_missing' });
  expect(await Secrets.none().all('acme')).toEqual([]);
});

describe('rotation', () => {
  test('a file that changes is in use within two seconds, without a restart', async () => {
    const { secrets, files, pass } = scene(NEW_AND_OLD);
    files.set('/secrets/new', 'one');
    expect(await secrets.values('acme', 'hook', HOST)).toEqual({ ok: true, values: ['one'] });
    files.set('/secrets/new', 'two').set('/secrets/old', 'one');
    pass(REREAD_AFTER_MS);
    expect(await secrets.values('acme', 'hook', HOST)).toEqual({ ok: true, values: ['two', 'one'] });
    files.delete('/secrets/old');
    pass(REREAD_AFTER_MS);
    expect(await secrets.values('acme', 'hook', HOST)).toEqual({ ok: true, values: ['two'] });
  });

  test('a file is read once by concurrent readers and within two seconds, also where reading fails', async () => {
    const { secrets, reads, files, pass } = scene({ acme: { hook: { from: ['file:/secrets/new'] } } });
    await Promise.all([1, 2, 3].map(() => secrets.values('acme', 'hook', HOST)));
    pass(REREAD_AFTER_MS - 1);
    files.set('/secrets/new', 'there');
    expect(await secrets.values('acme', 'hook', HOST)).toMatchObject({ code: 'secret_missing' });
    expect(reads).toHaveLength(1);
    pass(1);
    expect(await secrets.values('acme', 'hook', HOST)).toEqual({ ok: true, values: ['there'] });
  });

  test('both sources with one value give one value', async () => {
    const { secrets, files } = scene(NEW_AND_OLD);
    files.set('/secrets/new', 'same').set('/secrets/old', 'same\n');
    expect(await secrets.values('acme', 'hook', HOST)).toEqual({ ok: true, values: ['same'] });
  });

  test('real files are followed too', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'portcullis-secrets-'));
    const path = join(folder, 'signing');
    let time = 0;
    const secrets = new Secrets(
      parseSecretMap(JSON.stringify({ acme: { default: { from: [`file:${path}`] } } })),
      {
        env: {},
        now: () => time,
      },
    );
    try {
      expect(await secrets.values('acme', 'default', HOST)).toMatchObject({ code: 'secret_missing' });
      await writeFile(path, 'on disk\n');
      time += REREAD_AFTER_MS;
      expect(await secrets.values('acme', 'default', HOST)).toEqual({ ok: true, values: ['on disk'] });
      await rm(path);
      time += REREAD_AFTER_MS;
      expect(await secrets.values('acme', 'default', HOST)).toMatchObject({ code: 'secret_missing' });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('hosts', () => {
  const limited = {
    acme: {
      hook: { from: ['env:A'], hosts: ['Hooks.example.com', '*.internal.example', '[::1]', '10.0.0.1'] },
    },
  };
  test.each([
    'hooks.example.com',
    'HOOKS.EXAMPLE.COM',
    'hooks.example.com.',
    'a.internal.example',
    'a.b.Internal.Example.',
    '[::1]',
    '10.0.0.1',
  ])('%s gets the secret', async (host) => {
    const { secrets } = scene(limited, { A: 'value' });
    expect(await secrets.values('acme', 'hook', host)).toEqual({ ok: true, values: ['value'] });
  });

  test.each([
    'example.com',
    'a.hooks.example.com',
    'hooks.example.com.evil.example',
    'internal.example',
    '.internal.example',
    'xinternal.example',
    'hooks.example.com:443',
    'hooks.example.com..',
    '10.0.0.10',
    '',
  ])('%j does not, and nothing is read for it', async (host) => {
    const { secrets, reads } = scene({
      acme: { hook: { from: ['file:/secrets/a'], hosts: limited.acme.hook.hosts } },
    });
    expect(await secrets.values('acme', 'hook', host)).toMatchObject({
      ok: false,
      code: 'secret_not_for_host',
    });
    expect(reads).toEqual([]);
  });
});

describe('what audit events are scrubbed of', () => {
  test('every value of the tenant, longest first, without what cannot be read', async () => {
    const { secrets, files } = scene(
      {
        acme: {
          hook: { from: ['file:/secrets/new', 'file:/secrets/old'], hosts: ['a.example'] },
          default: { from: ['env:SIGNING', 'env:UNSET'] },
          broken: { from: ['file:/secrets/broken', 'env:OLD'] },
        },
        beta: { default: { from: ['env:BETA'] } },
      },
      { SIGNING: 'signing-value', OLD: 'new', BETA: 'of beta' },
    );
    files.set('/secrets/new', 'new-value').set('/secrets/broken', new Error('I/O'));
    expect(await secrets.all('acme')).toEqual(['signing-value', 'new-value', 'new']);
    expect(await secrets.all('beta')).toEqual(['of beta']);
    expect(await secrets.all('gamma')).toEqual([]);
  });

  test('a value that a file held before is still struck out, because a receiver may echo it', async () => {
    const { secrets, files, pass } = scene(NEW_AND_OLD);
    files.set('/secrets/new', 'first');
    await secrets.values('acme', 'hook', HOST);
    files.set('/secrets/new', 'second');
    pass(REREAD_AFTER_MS);
    expect(await secrets.all('acme')).toEqual(['second', 'first']);
    files.delete('/secrets/new');
    pass(REREAD_AFTER_MS);
    expect(await secrets.all('acme')).toEqual(['second', 'first']);
  });
});
