import { z } from 'zod';
import { hasScope } from '../../../domain/principal';
import type { Subject } from '../../../domain/subject';
import { isUndecided, openWaitOf, type ToolCallState } from '../../../domain/call-state';
import type { ToolCallMemo } from '../../../workflows/call-options';
import type { NexusPrincipal } from '../nexus-principal';
import { waitSchema, waitView } from './wait';

export const denialSchema = z
  .strictObject({
    by: z.enum(['human', 'policy', 'permission', 'timeout', 'hook_failure', 'cancelled', 'pending']),
    hookId: z.string().optional(),
    reason: z.strictObject({
      code: z.string().meta({ description: 'For programs.' }),
      text: z.string().optional().meta({ description: 'For people; at most 4 KiB.' }),
    }),
    executed: z.union([z.boolean(), z.literal('unknown')]).meta({ description: 'Whether the tool has run.' }),
  })
  .meta({ id: 'Denial', description: 'A denial is a result, not an error.' });

export const callSchema = z
  .strictObject({
    id: z.string(),
    threadId: z.string(),
    status: z.enum([
      'waiting',
      'allowed',
      'running',
      'completed',
      'denied',
      'failed',
      'cancelled',
      'expired',
    ]),
    tool: z.string(),
    toolUseId: z.string().optional(),
    execution: z.enum(['caller', 'server']),
    input: z.unknown().meta({
      description: 'The composed value to run with. Withheld from callers while it awaits judgement.',
    }),
    subjectDigest: z
      .string()
      .meta({ description: 'SHA-256 over the RFC 8785 JSON of { point, tool, value }.' }),
    output: z.unknown(),
    error: z.unknown(),
    executed: z
      .union([z.boolean(), z.literal('unknown')])
      .optional()
      .meta({
        description:
          'Whether the tool has run, once the service has tried to run it. `unknown`: it may have, and is not run again.',
      }),
    denial: denialSchema.optional(),
    pendingWaits: z.array(waitSchema),
    actor: z.unknown(),
    profileVersion: z.int(),
    requestDigest: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
    expiresAt: z.string().optional().meta({
      description: 'When the state ends by itself: the wait expires, or the output is no longer taken.',
    }),
  })
  .partial({ input: true, output: true, error: true, actor: true })
  .meta({ id: 'ToolCall' });

export type CallView = z.output<typeof callSchema>;

export async function callView(principal: NexusPrincipal, state: ToolCallState): Promise<CallView> {
  const { store } = principal;
  const { call } = state;
  const open = openWaitOf(state);
  const value = (subject: Subject): Promise<unknown> => store.blobs.valueOf(call.id, subject);
  const [input, output, error, wait] = await Promise.all([
    maySeeInput(principal, state) ? value(call.input) : undefined,
    call.output && value(call.output),
    call.error && value(call.error),
    open && waitView(store, open, { withValue: hasScope(principal.key, 'waits:resolve') }),
  ]);
  return {
    id: call.id,
    threadId: call.threadId,
    status: call.status,
    tool: call.tool,
    ...(call.toolUseId !== undefined && { toolUseId: call.toolUseId }),
    execution: call.execution,
    ...(input !== undefined && { input }),
    subjectDigest: call.input.digest,
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error }),
    ...(call.executed !== undefined && { executed: call.executed }),
    ...(call.denial !== undefined && { denial: call.denial }),
    pendingWaits: wait === undefined ? [] : [wait],
    ...(call.actor !== undefined && { actor: call.actor }),
    profileVersion: call.profileVersion,
    requestDigest: call.requestDigest,
    createdAt: call.createdAt,
    updatedAt: call.updatedAt,
    ...(call.expiresAt !== undefined && { expiresAt: call.expiresAt }),
  };
}

/** A call that Temporal has and the store does not know yet: it is being decided. */
export function unstoredCallView(callId: string, memo: ToolCallMemo): CallView {
  return {
    id: callId,
    threadId: memo.threadId,
    status: 'waiting',
    tool: memo.tool,
    ...(memo.toolUseId !== null && { toolUseId: memo.toolUseId }),
    execution: memo.execution ?? 'caller',
    subjectDigest: memo.subjectDigest,
    pendingWaits: [],
    profileVersion: memo.profileVersion,
    requestDigest: memo.requestDigest,
    createdAt: memo.createdAt,
    updatedAt: memo.createdAt,
  };
}

/**
 * What a caller is told that cannot wait. The stored call goes on; the same request again gets its decision.
 */
export function pendingView(view: CallView): CallView {
  const [wait] = view.pendingWaits;
  const what = wait === undefined ? 'its hooks' : `hook ${wait.hookId}`;
  const executed = view.executed ?? false;
  return {
    ...view,
    status: 'denied',
    denial: {
      by: 'pending',
      ...(wait !== undefined && { hookId: wait.hookId }),
      reason: { code: 'pending', text: pendingText(what, executed) },
      executed,
    },
  };
}

function pendingText(what: string, executed: boolean | 'unknown'): string {
  if (executed === false)
    return `The tool has not run: the call waits for ${what}. Make the same request again later to get its decision.`;
  const ran = executed === true ? 'has run' : 'may have run';
  return `The tool ${ran}, and what it gave waits for ${what}. Make the same request again later to get it: the tool is not run again for that.`;
}

/**
 * Whoever only makes calls does not see a value that hooks may have written and nobody has judged yet, nor the approved
 * value of a call that was answered `pending` before it is handed out.
 */
function maySeeInput({ key }: NexusPrincipal, state: ToolCallState): boolean {
  if (hasScope(key, 'read') || hasScope(key, 'waits:resolve')) return true;
  const unclaimed = state.pending !== undefined && state.pending.handedTo === undefined;
  return !isUndecided(state) && !(unclaimed && state.call.status === 'allowed');
}
