import { z } from 'zod';
import { hasScope } from '../../../domain/principal';
import { openWaitOf, type TextState } from '../../../domain/call-state';
import type { TextMemo } from '../../../workflows/call-options';
import type { NexusPrincipal } from '../nexus-principal';
import { denialSchema } from './call';
import { waitSchema, waitView } from './wait';

export const textSchema = z
  .strictObject({
    id: z.string(),
    threadId: z.string(),
    point: z.enum(['before_input', 'after_output']),
    status: z.enum(['waiting', 'completed', 'denied', 'cancelled']).meta({
      description: 'completed: let through; `text` is what may be used.',
    }),
    text: z.string().optional().meta({ description: 'The composed text, once it is let through.' }),
    subjectDigest: z.string().meta({ description: 'SHA-256 over the RFC 8785 JSON of { point, value }.' }),
    denial: denialSchema.optional(),
    pendingWaits: z.array(waitSchema),
    profileVersion: z.int(),
    requestDigest: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
    expiresAt: z.string().optional().meta({ description: 'When the wait ends by itself.' }),
  })
  .meta({ id: 'Text' });

export type TextView = z.output<typeof textSchema>;

export async function textView(principal: NexusPrincipal, state: TextState): Promise<TextView> {
  const { store, key } = principal;
  const { call, chain } = state;
  const open = openWaitOf(state);
  const [text, wait] = await Promise.all([
    call.text && store.blobs.valueOf(call.id, call.text),
    open && waitView(store, open, { withValue: hasScope(key, 'waits:resolve') }),
  ]);
  return {
    id: call.id,
    threadId: call.threadId,
    point: call.point,
    status: statusOf(state),
    ...(typeof text === 'string' && { text }),
    subjectDigest: chain.subject.digest,
    ...(call.denial !== undefined && { denial: call.denial }),
    pendingWaits: wait === undefined ? [] : [wait],
    profileVersion: call.profileVersion,
    requestDigest: call.requestDigest,
    createdAt: call.createdAt,
    updatedAt: call.updatedAt,
    ...(call.expiresAt !== undefined && { expiresAt: call.expiresAt }),
  };
}

/** A text that the workflow service has and the store does not know yet: it is being judged. */
export function unstoredTextView(id: string, memo: TextMemo): TextView {
  return {
    id,
    threadId: memo.threadId,
    point: memo.point,
    status: 'waiting',
    subjectDigest: memo.subjectDigest,
    pendingWaits: [],
    profileVersion: memo.profileVersion,
    requestDigest: memo.requestDigest,
    createdAt: memo.createdAt,
    updatedAt: memo.createdAt,
  };
}

function statusOf({ call }: TextState): TextView['status'] {
  const { status } = call;
  if (status === 'waiting' || status === 'completed' || status === 'denied' || status === 'cancelled')
    return status;
  throw new Error(`a text is never ${status}`);
}
