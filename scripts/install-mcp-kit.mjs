// Installs the programs of others that test/mcp tries the MCP gateway with: those of test/mcp/kit/package.json from npm,
// those of test/mcp/kit/requirements.txt from PyPI, into a folder of the cache that is named after what is in these files.
// Among the latter is a newer Node, which some of the former need. Prints the folder.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'test/mcp/kit');

const hash = createHash('sha256');
for (const name of readdirSync(source).sort()) hash.update(name).update(readFileSync(join(source, name)));
const folder = join(root, '.cache', `mcp-kit-${hash.digest('hex').slice(0, 16)}`);
const stamp = join(folder, 'complete');

if (!existsSync(stamp)) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(source, folder, { recursive: true });
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], folder);
  run('python3', ['-m', 'venv', 'python'], folder);
  const flags = ['--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary', ':all:'];
  run(
    join(folder, 'python/bin/python'),
    ['-m', 'pip', 'install', ...flags, '-r', 'requirements.txt'],
    folder,
  );
  writeFileSync(stamp, '');
}
console.log(folder);

function run(command, args, cwd) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status === 0) return;
  console.error(`${command} ${args[0]} failed${error ? `: ${error.message}` : ` with ${status}`}`);
  process.exit(1);
}
