import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { writeJsonAtomically } from './atomic-file';
import type { LocatedServer, Refusal, ServerProduct } from './locate-server';
import { compareVersions, formatVersion, parseVersion } from './semantic-version';
import { StartError } from './start-error';

/** How this version of Portcullis lays out a data folder. Raise it when an older one could no longer read the folder. */
const FORMAT = 1;

interface ServerMark {
  readonly product: ServerProduct;
  readonly version: string;
}

/** `<data>/version.json` */
export interface DataVersion {
  readonly format: number;
  readonly temporal?: ServerMark;
  readonly redis?: ServerMark;
}

/** Throws `StartError` `data_folder_version` when the folder was made by another format, or when the file is not readable as one. */
export function readDataVersion(dataDir: string): DataVersion {
  const path = join(dataDir, 'version.json');
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch {
    return { format: FORMAT };
  }
  const version = parse(content);
  if (version?.format === FORMAT) return version;
  const found =
    version === undefined
      ? `${path} cannot be read as a version`
      : `${dataDir} has the format ${version.format}, and this Portcullis knows ${FORMAT}` +
        (version.format > FORMAT ? ': it was made by a newer one' : '');
  throw new StartError(
    'data_folder_version',
    `${found}. Run the Portcullis that made the folder, or choose another one with PORTCULLIS_DATA.`,
  );
}

/** Written before a server opens its files: from then on they may be of its version, whether or not the start succeeds. */
export function markServer(dataDir: string, role: 'temporal' | 'redis', server: LocatedServer): void {
  const mark: ServerMark = { product: server.product, version: formatVersion(server.version) };
  writeJsonAtomically(join(dataDir, 'version.json'), { ...readDataVersion(dataDir), [role]: mark });
}

/** Servers read what they or an older one of their kind wrote (patch releases aside), and Valkey also reads Redis up to 7.2. */
export function refuseForData(mark: ServerMark | undefined, server: LocatedServer): Refusal | undefined {
  const written = parseVersion(mark?.version ?? '');
  if (!mark || !written) return undefined;
  const [major, minor] = written;
  const sameProduct = mark.product === server.product;
  const readable = sameProduct
    ? compareVersions(server.version, [major, minor, 0]) >= 0
    : mark.product === 'redis' && server.product === 'valkey' && compareVersions(written, [7, 4, 0]) < 0;
  if (readable) return undefined;
  return {
    code: 'data_folder_version',
    reason:
      `${server.product} ${formatVersion(server.version)}, but the data folder was written by ${mark.product} ${mark.version}: ` +
      `use that or a newer one, or another folder (PORTCULLIS_DATA)`,
  };
}

function parse(content: string): DataVersion | undefined {
  try {
    const value: unknown = JSON.parse(content);
    const isVersion = typeof value === 'object' && value !== null && 'format' in value;
    return isVersion && typeof value.format === 'number' ? (value as DataVersion) : undefined;
  } catch {
    return undefined;
  }
}
