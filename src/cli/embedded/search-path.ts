import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const SUFFIXES = process.platform === 'win32' ? ['.exe', '.cmd', ''] : [''];

/** Every executable of that name on PATH, in PATH's order. */
export function executablesOnPath(name: string, env: NodeJS.ProcessEnv): string[] {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates = folders.flatMap((folder) => SUFFIXES.map((suffix) => join(folder, name + suffix)));
  return [...new Set(candidates)].filter(isExecutableFile);
}

export function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
