import { z } from 'zod';
import { MAX_PATTERN_LENGTH, matchesPattern, patternFault } from './linear-pattern';

const fieldName = z
  .string()
  .min(1)
  .max(128)
  .superRefine((name, ctx) => {
    if (!name.isWellFormed()) ctx.addIssue({ code: 'custom', message: 'the name holds a lone surrogate' });
    else if (/^[-_ ]+$/.test(name)) {
      ctx.addIssue({
        code: 'custom',
        message: '`-`, `_` and spaces are ignored; nothing is left of this name',
      });
    }
  });

const pattern = z
  .string()
  .superRefine((text, ctx) => {
    const fault =
      patternFault(text) ??
      (matchesPattern(text, '')
        ? 'the pattern matches the empty text; write what must be hidden'
        : undefined);
    if (fault !== undefined) ctx.addIssue({ code: 'custom', message: fault });
  })
  .meta({ maxLength: MAX_PATTERN_LENGTH });

/** What a tenant hides in its audit beyond what is always hidden. */
export const redactionSettingsSchema = z
  .strictObject({
    fields: z.array(fieldName).max(256).default([]).meta({
      description:
        'Names of members whose values are hidden at any depth. Case, `-`, `_` and spaces are ignored.',
    }),
    patterns: z.array(pattern).max(64).default([]).meta({
      description: 'What is hidden in texts and names, in RE2 syntax: every match gives way to `[redacted]`.',
    }),
  })
  .meta({ id: 'RedactionSettings' });

export type RedactionSettings = z.output<typeof redactionSettingsSchema>;
