import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PATCHES } from '../../src/workflows/patches';
import { testServices } from '../support/services';
import { RECORDED_PATHS } from './paths';

/**
 * Histories that earlier versions have recorded are replayed against the workflows as they are now: a call that was
 * parked under an old version must go on under this one. `PORTCULLIS_RECORD=1 npm test -- replay` records those that
 * are missing; a history that is there is never overwritten, because it stands for calls that may still be open.
 */
const HISTORIES = resolve(__dirname, '..', 'histories');
const WORKFLOWS = resolve(__dirname, '..', '..', 'src', 'workflows');
const REGISTER = resolve(__dirname, '..', 'embedded', 'fixtures', 'register-typescript.cjs');

function run(program: string, ...args: string[]): string {
  return execFileSync(process.execPath, ['--require', REGISTER, join(__dirname, program), ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 120_000,
  });
}

function replay(folder: string): Record<string, string | null> {
  // The SDK's core writes its log to stdout as well; the result is the last line.
  const lines = run('replay-program.ts', testServices().bundlePath, folder).trim().split('\n');
  return JSON.parse(lines.at(-1) ?? '');
}

const filesIn = (folder: string): string[] => readdirSync(folder).filter((file) => file.endsWith('.json'));

let results: Record<string, string | null>;
beforeAll(() => {
  if (process.env['PORTCULLIS_RECORD'] === '1') run('record-program.ts', HISTORIES);
  results = replay(HISTORIES);
}, 240_000);

test.each(RECORDED_PATHS.map(({ name }) => `${name}.json`))(
  'the recorded history %s replays under the present code',
  (file) => {
    expect(results).toHaveProperty([file], null);
  },
);

test('every history that was ever recorded replays', () => {
  expect(results).toEqual(Object.fromEntries(filesIn(HISTORIES).map((file) => [file, null])));
});

test('a history that the code contradicts is found out', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-replay-'));
  const history = JSON.parse(readFileSync(join(HISTORIES, 'parked-edited-and-completed.json'), 'utf8'));
  const [{ data }] = history.events[0].workflowExecutionStartedEventAttributes.input.payloads;
  const start = JSON.parse(Buffer.from(data, 'base64').toString());
  // With this argument the code asks no hook, and the history tells of one that parked the call.
  const other = Buffer.from(JSON.stringify({ ...start, storedAsAllowed: true })).toString('base64');
  writeFileSync(join(folder, 'other.json'), JSON.stringify(history).replaceAll(data, other));
  expect(replay(folder)).toEqual({ 'other.json': expect.stringMatching(/determinism/i) });
  rmSync(folder, { recursive: true });
});

test('workflow code names its patches only through the list', () => {
  const sources = readdirSync(WORKFLOWS, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && name !== 'patches.ts')
    .map((name) => readFileSync(join(WORKFLOWS, name), 'utf8'));
  const named = sources.flatMap((source) =>
    [...source.matchAll(/(?:patched|deprecatePatch)\(([^ )]*)[^)]*\)/g)].map(([, id]) => id ?? ''),
  );
  const listed = Object.keys(PATCHES).map((id) => `'${id}'`);
  expect(named.filter((id) => !listed.includes(id))).toEqual([]);
});
