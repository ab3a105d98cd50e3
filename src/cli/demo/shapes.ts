import { z } from 'zod';

// What the demo reads of the API's answers; other members are ignored, as a client should.

export const createdShape = z.object({ id: z.string() });

export const profileShape = z.object({
  id: z.string(),
  version: z.int(),
  configuration: z.object({ hooks: z.array(z.object({ id: z.string() })) }),
});

export const waitShape = z.object({
  id: z.string(),
  threadId: z.string(),
  callId: z.string(),
  tool: z.string(),
  title: z.string(),
  value: z.unknown().optional(),
  subjectDigest: z.string(),
  expiresAt: z.string(),
});

export const threadShape = z.object({
  id: z.string(),
  state: z.string(),
  pendingWaits: z.array(waitShape),
});

export const callShape = z.object({
  id: z.string(),
  threadId: z.string(),
  status: z.string(),
  input: z.unknown().optional(),
  output: z.unknown().optional(),
  subjectDigest: z.string(),
  pendingWaits: z.array(waitShape),
  denial: z
    .object({
      by: z.string(),
      hookId: z.string().optional(),
      reason: z.object({ code: z.string(), text: z.string().optional() }),
      executed: z.union([z.boolean(), z.string()]),
    })
    .optional(),
});

export const resolutionShape = z.object({
  status: z.string(),
  outcome: z.object({ decision: z.string(), by: z.array(z.string()) }),
});

export const problemShape = z.object({ type: z.string(), title: z.string() });

export const createdKeyShape = z.object({ id: z.string(), token: z.string() });

export const eventShape = z.object({
  seq: z.int(),
  type: z.string(),
  at: z.string(),
  threadId: z.string().optional(),
  data: z.record(z.string(), z.unknown()),
});

export function pageShape<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), nextCursor: z.string().optional() });
}

export type Call = z.output<typeof callShape>;
export type WaitingFor = z.output<typeof waitShape>;
export type AuditEvent = z.output<typeof eventShape>;
