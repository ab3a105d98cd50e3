// Compiles src/ to dist/ and bundles the workflows. With --if-stale it does nothing when dist/ was built from these
// very sources, so that `npm start` is quick and never runs a stale build.
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const stampFile = join(dist, 'build-stamp');
const require = createRequire(import.meta.url);

const stamp = digestOf([
  ...filesUnder(join(root, 'src')),
  ...['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/build.mjs'].map((name) =>
    join(root, name),
  ),
]);

if (
  process.argv.includes('--if-stale') &&
  existsSync(stampFile) &&
  readFileSync(stampFile, 'utf8') === stamp
) {
  process.exit(0);
}
rmSync(dist, { recursive: true, force: true });
console.error('Building dist/ …');
execFileSync(process.execPath, [require.resolve('typescript/bin/tsc'), '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
});
const { bundleWorkflows } = require(join(dist, 'workers', 'bundle-workflows.js'));
writeFileSync(join(dist, 'workflows.bundle.js'), await bundleWorkflows());
// Last: a build that was interrupted has no stamp.
writeFileSync(stampFile, stamp);

function filesUnder(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function digestOf(files) {
  const hash = createHash('sha256');
  for (const file of files)
    hash.update(relative(root, file)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}
