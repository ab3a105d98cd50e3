import { z } from 'zod';
import { MAX_HOOKS, MAX_WAIT_MS } from './hook-limits';
import { approverFault } from './principal';
import { SERVED_POINTS } from './point';
import { toolPatternFault } from './tool-pattern';

const faultOf = (check: (text: string) => string | undefined) =>
  z.string().superRefine((text, ctx) => {
    const fault = check(text);
    if (fault !== undefined) ctx.addIssue({ code: 'custom', message: fault });
  });

/** For checks that run whatever else is at fault with the value, so that every fault is listed at once. */
const always = { when: () => true };

/** Members of a value that may be anything yet. */
function partsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

const clientProcessor = z
  .strictObject({
    type: z.literal('client'),
    asyncTimeoutMs: z.int().min(1).max(MAX_WAIT_MS).default(MAX_WAIT_MS).meta({
      description: 'How long the work waits for a person, in milliseconds; then `onFailure` applies.',
    }),
    title: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .meta({ description: 'What the approver is asked, in one line.' }),
    approvers: z.array(faultOf(approverFault)).min(1).max(64).optional().meta({
      description: 'Owners, or `scope:<scope>`, who may resolve. Absent: every key with scope waits:resolve.',
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

const hook = z
  .strictObject({
    id: z.string().regex(/^[A-Za-z0-9._:-]{1,128}$/, 'an id is 1-128 characters of A-Z a-z 0-9 . _ : -'),
    point: z.enum(SERVED_POINTS),
    match: z
      .strictObject({
        tools: z.array(faultOf(toolPatternFault)).min(1).max(64).optional().meta({
          description: 'Exact tool names, or a prefix and one trailing `*`. Case-sensitive, byte for byte.',
        }),
      })
      .optional(),
    processor: z.discriminatedUnion('type', [clientProcessor]),
    onFailure: z.enum(['fail_closed', 'fail_open']).default('fail_closed').meta({
      description:
        'fail_closed: no answer means that the work does not happen. fail_open: no answer counts as `defer`.',
    }),
    mode: z.enum(['enforce', 'observe']).default('enforce').meta({
      description: 'observe: audited with what it would have decided, never obeyed, never parks.',
    }),
  })
  .meta({ id: 'Hook' });

export const hooksSchema = z
  .array(hook)
  .superRefine((hooks: unknown, ctx) => {
    if (!Array.isArray(hooks)) return;
    if (hooks.length > MAX_HOOKS) {
      ctx.addIssue({
        code: 'custom',
        message: `a profile has at most ${MAX_HOOKS} hooks; these are ${hooks.length}`,
      });
    }
    const seen = new Set<unknown>();
    hooks.forEach((each: unknown, index) => {
      const id = typeof each === 'object' && each !== null && 'id' in each ? each.id : undefined;
      if (typeof id !== 'string') return;
      if (seen.has(id)) {
        ctx.addIssue({ code: 'custom', path: [index, 'id'], message: 'an earlier hook has this id' });
      }
      seen.add(id);
    });
  }, always)
  .meta({ maxItems: MAX_HOOKS });

export const timeoutsSchema = z.strictObject({
  outputTimeoutMs: z.int().min(1_000).max(MAX_WAIT_MS).default(3_600_000).meta({
    description: 'How long an allowed call waits for its output, in milliseconds; then it is `expired`.',
  }),
});

/** What a client writes. `hooks` absent means: install the default hooks. */
export const configurationInputSchema = z
  .strictObject({ hooks: hooksSchema.optional(), timeouts: timeoutsSchema.prefault({}) })
  .meta({ id: 'ConfigurationInput' });

/** What is stored and read back: every default is written out. */
export const configurationSchema = z
  .strictObject({ hooks: hooksSchema, timeouts: timeoutsSchema })
  .meta({ id: 'Configuration' });

export const profileNameSchema = z.string().trim().min(1).max(128);

export type Hook = z.output<typeof hook>;
export type Timeouts = z.output<typeof timeoutsSchema>;
export type Configuration = z.output<typeof configurationSchema>;
export type ConfigurationInput = z.output<typeof configurationInputSchema>;
