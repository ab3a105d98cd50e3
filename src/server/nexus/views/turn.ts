import { z } from 'zod';
import { inputIdOf, outputIdOf, type TurnRecord } from '../../../domain/turn';
import { isToolCall } from '../../../domain/call';
import type { NexusPrincipal } from '../nexus-principal';
import { denialSchema } from './call';
import { openWaitViews } from './open-waits';
import { maySeeValues, waitSchema } from './wait';

export const turnSchema = z
  .strictObject({
    id: z.string(),
    threadId: z.string(),
    status: z.enum(['running', 'waiting', 'completed', 'denied', 'failed', 'cancelled']).meta({
      description: 'waiting: it runs, and something of it waits for an answer.',
    }),
    text: z.string().optional().meta({ description: "The model's text, once it is let through." }),
    denial: denialSchema.optional(),
    failure: z
      .strictObject({ code: z.string(), text: z.string().optional() })
      .optional()
      .meta({ description: 'Why the turn failed.' }),
    inputId: z.string().meta({ description: "The user's text, under `…/inputs`." }),
    outputId: z.string().optional().meta({ description: "The model's text, under `…/outputs`." }),
    toolCalls: z.array(z.string()).meta({ description: "Ids of the tool calls, in the model's order." }),
    pendingWaits: z.array(waitSchema),
    steps: z.int().meta({ description: 'How often the model has answered.' }),
    profileVersion: z.int(),
    requestDigest: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: 'Turn' });

export type TurnView = z.output<typeof turnSchema>;

export async function turnView(principal: NexusPrincipal, record: TurnRecord): Promise<TurnView> {
  const { store } = principal;
  const { id, threadId, status, denial, failure } = record;
  const steps = await store.turns.readSteps(id);
  const toolCalls = steps.flatMap(({ step }) =>
    step.tools.flatMap(({ callId }) => (callId === undefined ? [] : [callId])),
  );
  const own = new Set([...toolCalls, inputIdOf(id), outputIdOf(id)]);
  const [{ openWaits }, output] = await Promise.all([
    store.threads.readOpenWork(threadId),
    store.calls.read(outputIdOf(id)),
  ]);
  const waits = await openWaitViews(store, openWaits, { withValue: maySeeValues(principal) });
  const pendingWaits = waits.filter(({ callId }) => own.has(callId));
  const call = output?.state.call;
  const text =
    status === 'completed' && call !== undefined && !isToolCall(call) && call.text !== undefined
      ? await store.blobs.valueOf(call.id, call.text)
      : undefined;
  return {
    id,
    threadId,
    status: status === 'running' && pendingWaits.length > 0 ? 'waiting' : status,
    ...(typeof text === 'string' && { text }),
    ...(denial !== undefined && { denial }),
    ...(failure !== undefined && {
      failure: { code: failure.code, ...(failure.text !== undefined && { text: failure.text }) },
    }),
    inputId: inputIdOf(id),
    ...(output !== undefined && { outputId: outputIdOf(id) }),
    toolCalls,
    pendingWaits,
    steps: steps.length,
    profileVersion: record.profileVersion,
    requestDigest: record.requestDigest,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
  };
}
