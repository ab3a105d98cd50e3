import { z } from 'zod';
import { httpToolSchema, mcpServerSchema, undemandedParameters } from './runnable-tool-schema';
import { always, partsOf } from './schema-faults';
import { descriptionSchema, inputSchemaSchema, toolNameSchema } from './tool-parts';

/** Most tools of one profile. */
const MAX_TOOLS = 256;

/** A tool that the caller runs itself. */
const callerToolSchema = z
  .strictObject({
    kind: z.literal('caller'),
    name: toolNameSchema,
    description: descriptionSchema.optional(),
    inputSchema: inputSchemaSchema.optional(),
  })
  .meta({ id: 'Tool' });

const toolSchema = z.discriminatedUnion('kind', [callerToolSchema, httpToolSchema, mcpServerSchema]);

export const toolsListSchema = z.array(toolSchema).superRefine((tools: unknown, ctx) => {
  if (!Array.isArray(tools)) return;
  if (tools.length > MAX_TOOLS) {
    ctx.addIssue({ code: 'custom', message: `a profile has at most ${MAX_TOOLS} tools` });
  }
  const seen = new Set<string>();
  tools.forEach((tool: unknown, index) => {
    const { kind, name, url, inputSchema } = partsOf(tool);
    // Names of servers and of tools do not meet.
    const place = `${kind === 'mcp' ? 'server' : 'tool'} ${String(name)}`;
    if (seen.has(place)) {
      const message = `an earlier ${kind === 'mcp' ? 'server' : 'tool'} has this name`;
      ctx.addIssue({ code: 'custom', path: [index, 'name'], message });
    }
    seen.add(place);
    if (kind !== 'http' || typeof url !== 'string') return;
    for (const parameter of undemandedParameters({ url, inputSchema })) {
      const message = `the parameter {${parameter}} is not among the schema's required members`;
      ctx.addIssue({ code: 'custom', path: [index, 'url'], message });
    }
  });
}, always);

export type ConfiguredTool = z.output<typeof toolSchema>;
