import { z } from 'zod';
import { canonicalJson } from './digest';
import { inputSchemaFault } from './input-schema';
import { findUnfaithful, type JsonValue } from './json-value';
import { faultOf } from './schema-faults';
import { toolNameFault } from './tool-pattern';

/** Most bytes of one tool's JSON Schema. */
const MAX_SCHEMA_BYTES = 65_536;

export const toolNameSchema = faultOf(toolNameFault);

export const descriptionSchema = z.string().max(4_096);

export const inputSchemaSchema = z
  .record(z.string(), z.unknown())
  .superRefine((schema, ctx) => {
    const fault = schemaFault(schema);
    if (fault !== undefined) ctx.addIssue({ code: 'custom', message: fault });
  })
  .meta({ description: 'JSON Schema (2020-12) of the input. A rewritten input must satisfy it.' });

/** Says why a schema cannot be used, or nothing. */
export function schemaFault(schema: unknown): string | undefined {
  const unfaithful = findUnfaithful(schema);
  if (unfaithful !== undefined) return `${unfaithful.pointer}: ${unfaithful.problem}`;
  // Checked above: what findUnfaithful accepts is JSON.
  const value = schema as JsonValue;
  if (canonicalJson(value).length > MAX_SCHEMA_BYTES) return `a schema has at most ${MAX_SCHEMA_BYTES} bytes`;
  return inputSchemaFault(value);
}
