import { v7 } from 'uuid';
import { uuidOf } from '../../../domain/turn';

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
  return uuidOf(JSON.stringify([tenant, owner, threadId, idempotencyKey]));
}
