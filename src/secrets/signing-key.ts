import { Webhook } from 'standardwebhooks';

/** Fewest bytes of a key (Standard Webhooks, "Signature scheme": 24 to 64 bytes; longer ones do no harm). */
export const MIN_KEY_BYTES = 24;

/** The operator has to change the secret; trying again does not help. The message does not repeat it. */
export class SigningSecretError extends Error {
  override readonly name = 'SigningSecretError';

  constructor(readonly code: 'weak_secret' | 'malformed_secret') {
    super(
      code === 'weak_secret'
        ? `a signing secret has at least ${MIN_KEY_BYTES} bytes, after base64 where it begins with whsec_`
        : 'what follows whsec_ in a signing secret is base64, with its padding',
    );
  }
}

const PREFIX = 'whsec_';

/**
 * The key that a secret stands for: `whsec_<base64>` is decoded, the UTF-8 bytes of any other text are the key.
 * @throws SigningSecretError
 */
export function signingKey(secret: string): Webhook {
  if (!secret.startsWith(PREFIX)) {
    const bytes = new TextEncoder().encode(secret);
    if (bytes.length < MIN_KEY_BYTES) throw new SigningSecretError('weak_secret');
    return new Webhook(bytes, { format: 'raw' });
  }
  const webhook = decoded(secret);
  if (Buffer.from(secret.slice(PREFIX.length), 'base64').length < MIN_KEY_BYTES) {
    throw new SigningSecretError('weak_secret');
  }
  return webhook;
}

/** The library is stricter than Node about base64, so what it accepts has the length that Node finds. */
function decoded(secret: string): Webhook {
  try {
    return new Webhook(secret);
  } catch {
    throw new SigningSecretError(secret === PREFIX ? 'weak_secret' : 'malformed_secret');
  }
}
