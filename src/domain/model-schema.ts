import { z } from 'zod';
import { hookUrlFault } from './hook-url';
import { secretNameSchema } from './processor-schema';
import { faultOf } from './schema-faults';

/** The language model that runs the turns of a profile, over an OpenAI-compatible API. */
export const modelSchema = z
  .strictObject({
    baseUrl: faultOf(hookUrlFault).meta({
      description:
        'Where `/chat/completions` is, such as `https://api.example.com/v1`. The rules are those of hook URLs.',
    }),
    name: z.string().min(1).max(256).meta({ description: 'As the API calls the model.' }),
    apiKey: secretNameSchema.optional().meta({
      description: 'Name of the secret that is sent as bearer token; the operator maps the name.',
    }),
    maxSteps: z.int().min(1).max(100).default(20).meta({
      description: 'Most calls of the model in one turn; a turn that needs more fails.',
    }),
    maxOutputTokens: z.int().min(1).max(1_000_000).default(4_096),
    timeoutMs: z.int().min(1_000).max(600_000).default(120_000).meta({
      description: 'For one call of the model, in milliseconds.',
    }),
  })
  .meta({ id: 'Model' });

/** Longest instructions, in UTF-16 code units. */
const MAX_INSTRUCTIONS = 65_536;

export const instructionsSchema = z
  .string()
  .max(MAX_INSTRUCTIONS)
  .refine((text) => text.isWellFormed(), 'the text holds a lone surrogate')
  .meta({ description: 'What the model is told before everything else.' });

export type ModelConfiguration = z.output<typeof modelSchema>;
