import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { SEARCH_ATTRIBUTES } from '../../src/workflows/search-attributes';
import { environment, RunningSystem, SYSTEM_TIMEOUT_MS } from './running-system';

const README = readFileSync(resolve(__dirname, '../../README.md'), 'utf8');

let system: RunningSystem;
beforeAll(async () => {
  system = await RunningSystem.start();
}, SYSTEM_TIMEOUT_MS);
afterAll(() => system.stop(), SYSTEM_TIMEOUT_MS);

function section(title: string): string {
  const found = README.split(/^## /m).find((text) => text.startsWith(`${title}\n`));
  if (found === undefined) throw new Error(`README.md has no section “${title}”`);
  return found;
}

interface Block {
  readonly language: string;
  readonly content: string;
}

function blocks(markdown: string): Block[] {
  const found = [...markdown.matchAll(/^```(\w+)\n([^]*?)^```$/gm)];
  return found.map(([, language = '', content = '']) => ({ language, content }));
}

test('the walk of the README prints what the README says', () => {
  const walk = blocks(section('A walk in five minutes'));
  const script = walk.filter(({ language }) => language === 'bash').map(({ content }) => content);
  const promised = walk.filter(({ language }) => language === 'text').map(({ content }) => content);
  expect(script.length).toBeGreaterThan(5);
  const { stdout, stderr, status } = spawnSync('bash', ['-euo', 'pipefail'], {
    cwd: system.folder,
    env: environment(system.dataDir),
    input: script.join('\n'),
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect({ stdout, stderr, status }).toEqual({ stdout: promised.join(''), stderr: '', status: 0 });
}, 90_000);

test('the profile of the README is accepted, and every default is written out', async () => {
  const [profile] = blocks(section('Profiles and hooks')).filter(({ language }) => language === 'json');
  const response = await fetch(`${system.readJson('ready.json')['nexus']}/v1/profiles`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${system.readJson('keys.json')['admin']}`,
      'content-type': 'application/json',
    },
    body: profile?.content ?? '',
  });
  const made = (await response.json()) as { configuration: { hooks: unknown[] } };
  expect({ status: response.status, made }).toMatchObject({
    status: 201,
    made: JSON.parse(profile?.content ?? ''),
  });
  expect(made.configuration.hooks[0]).toMatchObject({ onFailure: 'fail_closed', mode: 'enforce' });
});

test('the two commands of the README are scripts of the package', () => {
  const { scripts } = JSON.parse(readFileSync(resolve(__dirname, '../../package.json'), 'utf8'));
  expect(README).toContain('`npm ci && npm start`');
  expect(README).toContain('`npm run verify` is the test command');
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['start', 'verify', 'demo']));
});

test('the search attributes of the README are those that the workflows set', () => {
  const [, names = ''] = /^\$ for name in ([\w ]+); do$/m.exec(README) ?? [];
  expect(names.split(' ').map((name) => `Portcullis${name}`)).toEqual(
    SEARCH_ATTRIBUTES.map(({ name }) => name),
  );
});
