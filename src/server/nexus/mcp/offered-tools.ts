import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { hooksAt, hooksForTool } from '../../../domain/hook';
import type { JsonValue } from '../../../domain/json-value';
import type { Profile } from '../../../domain/profile';
import type { KnownTool } from '../../../domain/runnable-tool';
import { partsOf } from '../../../domain/schema-faults';

/**
 * The tools of a profile as an MCP client is offered them (MCP 2025-11-25, "Tool"): those that the service runs, under the
 * names by which hooks know them.
 */
export function offeredTools(profile: Profile, tools: readonly KnownTool[]): Tool[] {
  return tools.flatMap((tool) => {
    const inputSchema = objectSchema(tool.inputSchema);
    if (tool.runs === undefined || inputSchema === undefined) return [];
    const { name, title, description, annotations, outputSchema } = tool;
    return [
      {
        name,
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
        inputSchema,
        ...(annotations !== undefined && { annotations: annotations as NonNullable<Tool['annotations']> }),
        // A result that hooks have rewritten need not keep to it, and clients throw such results away.
        ...(outputSchema !== undefined && !isJudgedAfter(profile, name) && structured(outputSchema)),
      },
    ];
  });
}

/** MCP has objects as arguments only; a tool that takes something else cannot be offered. */
function objectSchema(schema: JsonValue = {}): Tool['inputSchema'] | undefined {
  const { type = 'object', ...rest } = partsOf(schema);
  return type === 'object' ? { ...rest, type } : undefined;
}

function structured(schema: JsonValue): Pick<Tool, 'outputSchema'> {
  const { type, ...rest } = partsOf(schema);
  return type === 'object' ? { outputSchema: { ...rest, type } } : {};
}

function isJudgedAfter({ configuration }: Profile, name: string): boolean {
  return hooksAt(hooksForTool(configuration.hooks, name), 'after_tool_call').length > 0;
}
