import { z } from 'zod';
import type { ResolveResult } from '../../../domain/stored-wait';
import type { WaitOutcome } from '../../../domain/wait';

const at = z.iso.datetime();

export const waitOutcomeSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('answered'),
      decision: z.enum(['allow', 'deny', 'defer', 'ask']),
      by: z.array(z.string()).meta({ description: 'Owners whose answers made the outcome.' }),
      at,
      reason: z.string().optional(),
    }),
    z.strictObject({ kind: z.literal('timeout'), at }),
    z.strictObject({ kind: z.literal('cancelled'), by: z.string(), code: z.string(), at }),
  ])
  .meta({ id: 'WaitOutcome' });

export const resolutionSchema = z
  .union([
    z.strictObject({
      status: z.literal('resolved'),
      waitId: z.string(),
      outcome: waitOutcomeSchema,
      subjectDigest: z.string().meta({ description: 'Digest of the value that was judged, edits included.' }),
    }),
    z.strictObject({
      status: z.literal('counted'),
      waitId: z.string(),
      counted: z.int(),
      needed: z.int(),
      subjectDigest: z.string(),
    }),
  ])
  .meta({
    id: 'Resolution',
    description: 'The outcome, or how many approvals there are and how many are needed.',
  });

export type ResolutionView = z.output<typeof resolutionSchema>;

export function resolutionView(waitId: string, result: ResolveResult): ResolutionView {
  const { subjectDigest } = result;
  return result.kind === 'counted'
    ? { status: 'counted', waitId, counted: result.counted, needed: result.needed, subjectDigest }
    : { status: 'resolved', waitId, outcome: outcomeView(result.outcome), subjectDigest };
}

export function outcomeView(outcome: WaitOutcome): z.output<typeof waitOutcomeSchema> {
  const time = new Date(outcome.at).toISOString();
  switch (outcome.kind) {
    case 'answered': {
      const { kind, decision, by, reason } = outcome;
      return { kind, decision, by: [...by], at: time, ...(reason !== undefined && { reason }) };
    }
    case 'timeout':
      return { kind: outcome.kind, at: time };
    case 'cancelled':
      return { kind: outcome.kind, by: outcome.by, code: outcome.code, at: time };
  }
}
