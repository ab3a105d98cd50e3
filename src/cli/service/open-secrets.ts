import { readFileSync } from 'node:fs';
import { parseSecretMap, SecretMapError } from '../../secrets/secret-map';
import { Secrets } from '../../secrets/secrets';
import { SettingsError } from './settings-error';

/** The secrets that the operator mapped; none without a file. @throws SettingsError that says what is wrong with it */
export function openSecrets(file: string | undefined, env: NodeJS.ProcessEnv): Secrets {
  if (file === undefined) return Secrets.none();
  return new Secrets(readMap(file), { env });
}

function readMap(file: string) {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new SettingsError(`PORTCULLIS_SECRETS_FILE cannot be read: ${file}`, { cause });
  }
  try {
    return parseSecretMap(text);
  } catch (cause) {
    if (!(cause instanceof SecretMapError)) throw cause;
    throw new SettingsError(`PORTCULLIS_SECRETS_FILE is not a map of secrets:\n${cause.message}`, { cause });
  }
}
