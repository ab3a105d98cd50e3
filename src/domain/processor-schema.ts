import { z } from 'zod';
import { headerNameFault, headerValueFault, hookUrlFault } from './hook-url';
import { MAX_WAIT_MS } from './hook-limits';
import { approverFault } from './principal';
import { always, faultOf, partsOf } from './schema-faults';

export const approversSchema = z.array(faultOf(approverFault)).min(1).max(64);

export const secretNameSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9._-]{1,128}$/,
    'a secret is named by 1-128 characters of A-Z a-z 0-9 . _ -; it is never written here',
  );

const asyncTimeoutMs = z.int().min(1).max(MAX_WAIT_MS).default(MAX_WAIT_MS);

export const clientProcessorSchema = z
  .strictObject({
    type: z.literal('client'),
    asyncTimeoutMs: asyncTimeoutMs.meta({
      description: 'How long the work waits for a person, in milliseconds; then `onFailure` applies.',
    }),
    title: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .meta({ description: 'What the approver is asked, in one line.' }),
    approvers: approversSchema.optional().meta({
      description:
        "Owners, or `scope:<scope>`, who may resolve. Absent: the tenant's `defaultApprovers`, else every key with scope waits:resolve.",
    }),
    minApprovals: z.int().min(1).max(64).default(1).meta({
      description: 'How many distinct owners must allow the same value.',
    }),
    allowSelfApproval: z.boolean().default(false).meta({
      description: 'Whether the owner who asked for the call may resolve its wait.',
    }),
  })
  .superRefine((processor: unknown, ctx) => {
    const { approvers, minApprovals } = partsOf(processor);
    if (!Array.isArray(approvers)) return;
    if (new Set(approvers).size !== approvers.length) {
      ctx.addIssue({ code: 'custom', path: ['approvers'], message: 'an approver is named twice' });
    }
    const onlyOwners = approvers.every((approver) => !String(approver).startsWith('scope:'));
    if (onlyOwners && typeof minApprovals === 'number' && new Set(approvers).size < minApprovals) {
      ctx.addIssue({
        code: 'custom',
        path: ['minApprovals'],
        message: `more approvals are needed than there are approvers (${approvers.length})`,
      });
    }
  }, always);

const headerValueSchema = z.union([
  faultOf(headerValueFault),
  z.strictObject({
    secret: secretNameSchema,
    prefix: faultOf(headerValueFault)
      .optional()
      .meta({ description: 'Written before it, such as `Bearer `.' }),
  }),
]);

const MAX_HEADERS = 16;

/** Headers that a profile has sent to an address of its own. */
export const headersSchema = z.record(z.string(), headerValueSchema).superRefine((headers, ctx) => {
  const names = Object.keys(headers);
  if (names.length > MAX_HEADERS) {
    ctx.addIssue({ code: 'custom', message: `there are at most ${MAX_HEADERS} headers` });
  }
  for (const name of names) {
    const fault = headerNameFault(name);
    if (fault !== undefined) ctx.addIssue({ code: 'custom', path: [name], message: fault });
  }
});

export type ConfiguredHeaders = z.output<typeof headersSchema>;

export const urlProcessorSchema = z.strictObject({
  type: z.literal('url'),
  url: faultOf(hookUrlFault).meta({
    description: 'https, without credentials and fragment. Redirects are not followed.',
  }),
  headers: headersSchema.optional().meta({
    description: 'Sent with every delivery. A value is text, or names a secret.',
  }),
  secret: secretNameSchema.optional().meta({
    description: "Name of the secret that signs the deliveries. Absent: the tenant's `default`.",
  }),
  timeoutMs: z.int().min(1).max(30_000).default(10_000).meta({
    description: 'How long one attempt may take, in milliseconds.',
  }),
  retries: z.int().min(0).max(5).default(2).meta({
    description:
      'Attempts after the first, with the same deliveryId, when no answer came or it said "not now".',
  }),
  asyncTimeoutMs: asyncTimeoutMs.meta({
    description:
      'How long a late answer (202), or the person whom the hook asks for, is waited for, in milliseconds.',
  }),
});

export const agentProcessorSchema = z
  .strictObject({
    type: z.literal('agent'),
    profileId: z.string().min(1).max(128).meta({
      description:
        'The reviewing profile, with a model: a turn of it judges. Its version is pinned when that begins.',
    }),
    timeoutMs: z.int().min(1_000).max(MAX_WAIT_MS).default(60_000).meta({
      description: 'How long the review may take, in milliseconds; then `onFailure` applies.',
    }),
    asyncTimeoutMs: z.int().min(1_000).max(MAX_WAIT_MS).optional().meta({
      description:
        'How long it may take in the place of `timeoutMs` when its own hooks may have to wait for people, and how long the person whom it asks for is waited for.',
    }),
  })
  .superRefine((processor: unknown, ctx) => {
    const { timeoutMs, asyncTimeoutMs } = partsOf(processor);
    if (typeof timeoutMs === 'number' && typeof asyncTimeoutMs === 'number' && asyncTimeoutMs < timeoutMs) {
      ctx.addIssue({ code: 'custom', path: ['asyncTimeoutMs'], message: 'not below timeoutMs' });
    }
  }, always);
