const SENSITIVE_NAMES = [
  ...['passwd', 'pwd', 'passphrase', 'credential', 'credentials', 'sessionid', 'connectionstring'],
  ...['authorization', 'proxyauthorization', 'cookie', 'setcookie'],
] as const;

const SENSITIVE_ENDINGS = ['password', 'secret', 'token', 'apikey', 'privatekey'] as const;

/** Whether a member, a header or an option of this name holds what nobody should see. `more` are plain names, too. */
export function isSensitiveName(name: string, more: ReadonlySet<string>): boolean {
  const plain = plainName(name);
  return more.has(plain) || NAMES.has(plain) || SENSITIVE_ENDINGS.some((ending) => plain.endsWith(ending));
}

const NAMES: ReadonlySet<string> = new Set(SENSITIVE_NAMES);

/** Spellings of one name are the same. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/[-_ ]/g, '');
}
