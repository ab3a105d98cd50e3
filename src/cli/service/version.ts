import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The version of Portcullis, as servers and clients of other protocols are told. */
export const VERSION = (
  JSON.parse(readFileSync(join(__dirname, '..', '..', '..', 'package.json'), 'utf8')) as { version: string }
).version;
