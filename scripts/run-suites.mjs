// Runs the suites of test/suites.json one after the other and ends with one line over all of them. A suite that ran
// fewer tests than it must is a failure: a test that is silently left out looks like one that passes.
// `npm test -- gate faults` runs only those named.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
const { suites } = JSON.parse(readFileSync(join(root, 'test', 'suites.json'), 'utf8'));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !suites.some((suite) => suite.name === name));
if (unknown.length > 0) {
  console.error(
    `No such suite: ${unknown.join(', ')}. The suites are ${suites.map(({ name }) => name).join(', ')}.`,
  );
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'portcullis-results-'));
const rows = suites.filter(({ name }) => wanted.length === 0 || wanted.includes(name)).map(runSuite);
rmSync(folder, { recursive: true, force: true });

console.log('');
for (const { name, passed, failed, skipped, problem } of rows) {
  console.log(
    `${name.padEnd(10)} ${passed} passed, ${failed} failed, ${skipped} skipped${problem ? `: ${problem}` : ''}`,
  );
}
const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
process.exitCode = rows.some(({ failed }) => failed > 0) ? 1 : 0;

function runSuite({ name, path, atLeast, prepare }) {
  const file = join(folder, `${name}.json`);
  console.log(`\n=== ${name}`);
  if (
    prepare !== undefined &&
    spawnSync(process.execPath, [join(root, prepare)], { stdio: 'inherit' }).status !== 0
  )
    return { name, passed: 0, failed: 1, skipped: 0, problem: `${prepare} failed` };
  const { status, signal } = spawnSync(
    process.execPath,
    [jest, '--json', `--outputFile=${file}`, '--testPathPatterns', `/${path}/`],
    { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  let result;
  try {
    result = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {
      name,
      passed: 0,
      failed: 1,
      skipped: 0,
      problem: `jest ended with ${signal ?? status} and no result`,
    };
  }
  const passed = result.numPassedTests;
  const skipped = result.numPendingTests + result.numTodoTests;
  // A file that cannot be loaded has no failed test of its own.
  const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
  if (failed === 0 && status !== 0)
    return { name, passed, failed: 1, skipped, problem: `jest ended with ${status}` };
  return passed + failed < atLeast
    ? {
        name,
        passed,
        failed: failed + 1,
        skipped,
        problem: `ran ${passed + failed} tests, must run at least ${atLeast}`,
      }
    : { name, passed, failed, skipped };
}
