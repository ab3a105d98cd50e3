import { z } from 'zod';
import { hasScope } from '../../../domain/principal';
import type { StoredWait } from '../../../domain/stored-wait';
import type { TenantStore } from '../../../store/tenant-store';
import type { NexusPrincipal } from '../nexus-principal';

export const waitSchema = z
  .strictObject({
    id: z.string(),
    threadId: z.string(),
    callId: z.string(),
    hookId: z.string(),
    index: z.int().meta({ description: "Place of the hook in its profile's list, from 0." }),
    point: z.enum(['before_input', 'before_tool_call', 'after_tool_call', 'after_output']),
    kind: z.enum(['client', 'delivery', 'ask']).meta({
      description:
        '`client`: a client hook. `ask`: another rule asks for a person. `delivery`: the hook itself will answer.',
    }),
    tool: z.string().optional(),
    value: z.unknown().optional().meta({
      description: 'What is judged. Shown only to keys with the scope waits:resolve.',
    }),
    subjectDigest: z.string().meta({ description: 'Send it back with the answer: a mismatch is 409.' }),
    title: z.string(),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
    approvals: z.array(z.string()).meta({ description: 'Owners who have allowed this value so far.' }),
    needed: z.int().meta({ description: 'How many distinct owners must allow it.' }),
  })
  .meta({ id: 'Wait' });

export type WaitView = z.output<typeof waitSchema>;

/** Only who may judge a value is shown it. */
export function maySeeValues({ key }: NexusPrincipal): boolean {
  return hasScope(key, 'waits:resolve');
}

export async function waitView(
  store: TenantStore,
  stored: StoredWait,
  { withValue }: { withValue: boolean },
): Promise<WaitView> {
  const { wait, callId, threadId, tool } = stored;
  return {
    id: wait.id,
    threadId,
    callId,
    hookId: wait.hookId,
    index: wait.index,
    point: wait.point,
    kind: wait.kind,
    tool,
    ...(withValue && { value: await store.blobs.valueOf(callId, wait.subject) }),
    subjectDigest: wait.subject.digest,
    title: wait.title,
    createdAt: new Date(wait.openedAt).toISOString(),
    expiresAt: new Date(wait.expiresAt).toISOString(),
    approvals: wait.votes.map(({ owner }) => owner),
    needed: wait.needed,
  };
}
