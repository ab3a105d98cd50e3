import { v7 } from 'uuid';
import { sha256Hex } from '../../../domain/digest';

/**
 * The id of a call. With an Idempotency-Key it is a function of tenant, owner, thread and key (a UUID of version 8,
 * RFC 9562 §5.8), so that a repeat finds the same workflow wherever it arrives; without one it is a new UUIDv7.
 */
export function callIdFor(request: {
  tenant: string;
  owner: string;
  threadId: string;
  idempotencyKey: string | undefined;
}): string {
  const { tenant, owner, threadId, idempotencyKey } = request;
  if (idempotencyKey === undefined) return v7();
  const hex = sha256Hex(JSON.stringify([tenant, owner, threadId, idempotencyKey]));
  const variant = (0x8 | (Number.parseInt(hex.charAt(16), 16) & 0x3)).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
