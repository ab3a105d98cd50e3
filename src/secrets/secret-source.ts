/** Where an operator keeps a secret. */
export type SecretSource =
  { readonly kind: 'env'; readonly variable: string } | { readonly kind: 'file'; readonly path: string };

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,254}$/;
/** Absolute, of a file, and not the `//` of a `file://` URL. */
const PATH = /^\/(?!\/)[^\x00-\x1f\x7f]*[^\x00-\x1f\x7f/]$/;

/** `env:NAME` or `file:/absolute/path`. @returns undefined for anything else */
export function parseSource(text: string): SecretSource | undefined {
  const rest = text.slice(text.indexOf(':') + 1);
  if (text.startsWith('env:') && VARIABLE.test(rest)) return { kind: 'env', variable: rest };
  if (text.startsWith('file:') && PATH.test(rest)) return { kind: 'file', path: rest };
  return undefined;
}
