import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { SETTINGS } from '../../src/cli/embedded/setting-table';
import { DEFAULT_SETTINGS } from '../../src/domain/settings';
import { PROBLEM_TYPES } from '../../src/server/http/problem-types';

const ROOT = resolve(__dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

function filesUnder(folder: string, ending: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1));
}

const PAGES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...filesUnder('docs', '.md')];

test('docs/problems.md describes every problem, and no other', () => {
  const [, ...sections] = read('docs/problems.md').split(/^## /m);
  const described = sections.map((section) => section.split('\n')[0]);
  expect(described).toEqual(Object.keys(PROBLEM_TYPES));
  Object.values(PROBLEM_TYPES).forEach(({ status, title, when, remedy }, index) => {
    const text = sections[index]?.replaceAll('\\', '');
    expect(text).toContain(`**${status} ${title}.** ${when}`);
    expect(text).toContain(remedy);
  });
});

test('docs/settings.md has every option and variable of the embedded run', () => {
  const page = read('docs/settings.md');
  for (const { env, option, ...setting } of Object.values(SETTINGS)) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${env}\``));
    expect(row).toContain(`\`${option.split(' ')[0]}\``);
    if ('fallback' in setting) expect(row).toMatch(new RegExp(`\\| \`?${setting.fallback}\`? +\\|`));
  }
});

test('docs/settings.md has every variable that the services read, and every setting of a tenant', () => {
  const page = read('docs/settings.md');
  const sources = [...filesUnder('src/cli/service', '.ts'), 'src/cli/create-key.ts'].map(read).join('\n');
  const variables = new Set(sources.match(/\b(?:PORTCULLIS|TEMPORAL)_[A-Z_]*[A-Z]\b/g));
  expect(variables.size).toBeGreaterThan(4);
  for (const name of [...variables, ...Object.keys(DEFAULT_SETTINGS)]) expect(page).toContain(`\`${name}\``);
});

test('every relative link of the documents leads somewhere', () => {
  const links = PAGES.flatMap((page) =>
    [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => ({ page, target })),
  );
  const missing = links
    .filter(({ target }) => !/^(https?:|#)/.test(target))
    .filter(({ page, target }) => !existsSync(join(ROOT, dirname(page), target.split('#')[0] ?? '')));
  expect(links.length).toBeGreaterThan(20);
  expect(missing).toEqual([]);
});

test('every source file that the documents name exists', () => {
  const named = PAGES.flatMap((page) => [
    ...read(page).matchAll(/`((?:src|test|scripts)\/[\w./-]+\.(?:ts|mjs|json))`/g),
  ]).map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
