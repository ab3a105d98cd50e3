import { z } from 'zod';
import { canonicalJson } from './digest';
import { findUnfaithful, type JsonValue } from './json-value';
import { always, faultOf, partsOf } from './schema-faults';
import { inputSchemaFault } from './input-schema';
import { toolNameFault } from './tool-pattern';

/** Most tools of one profile, and most bytes of one tool's JSON Schema. */
const MAX_TOOLS = 256;
const MAX_SCHEMA_BYTES = 65_536;

/** A tool that the caller runs itself. */
const toolSchema = z
  .strictObject({
    kind: z.literal('caller'),
    name: faultOf(toolNameFault),
    description: z.string().max(4_096).optional(),
    inputSchema: z
      .record(z.string(), z.unknown())
      .superRefine((schema, ctx) => {
        const fault = schemaFault(schema);
        if (fault !== undefined) ctx.addIssue({ code: 'custom', message: fault });
      })
      .optional()
      .meta({ description: 'JSON Schema (2020-12) of the input. A rewritten input must satisfy it.' }),
  })
  .meta({ id: 'Tool' });

export const toolsListSchema = z.array(toolSchema).superRefine((tools: unknown, ctx) => {
  if (!Array.isArray(tools)) return;
  if (tools.length > MAX_TOOLS) {
    ctx.addIssue({ code: 'custom', message: `a profile has at most ${MAX_TOOLS} tools` });
  }
  const seen = new Set<unknown>();
  tools.forEach((tool: unknown, index) => {
    const { name } = partsOf(tool);
    if (seen.has(name)) {
      ctx.addIssue({ code: 'custom', path: [index, 'name'], message: 'an earlier tool has this name' });
    }
    seen.add(name);
  });
}, always);

function schemaFault(schema: unknown): string | undefined {
  const unfaithful = findUnfaithful(schema);
  if (unfaithful !== undefined) return `${unfaithful.pointer}: ${unfaithful.problem}`;
  // Checked above: what findUnfaithful accepts is JSON.
  const value = schema as JsonValue;
  if (canonicalJson(value).length > MAX_SCHEMA_BYTES) return `a schema has at most ${MAX_SCHEMA_BYTES} bytes`;
  return inputSchemaFault(value);
}
