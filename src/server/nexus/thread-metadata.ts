import { z } from 'zod';
import type { JsonObject } from '../../domain/json-value';

const MAX_METADATA_BYTES = 16_384;

/** What a caller keeps with a thread: any JSON object of at most 16 KiB as UTF-8 text. Passed on by reference. */
export const metadataSchema = z
  .custom<JsonObject>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must be an object',
  )
  .refine(
    (value) => Buffer.byteLength(JSON.stringify(value)) <= MAX_METADATA_BYTES,
    `must be at most ${MAX_METADATA_BYTES} bytes of JSON`,
  )
  .meta({ type: 'object', description: 'Any JSON object of at most 16 KiB.' });
