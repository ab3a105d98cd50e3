import { z } from 'zod';
import { hookUrlFault } from './hook-url';
import { headersSchema } from './processor-schema';
import { always, faultOf, partsOf } from './schema-faults';
import { descriptionSchema, inputSchemaSchema, toolNameSchema } from './tool-parts';
import { toolPatternFault } from './tool-pattern';
import { parametersOf, urlTemplateFault } from './url-template';

/** Longest time that a tool which runs here may take, in milliseconds. */
const MAX_TOOL_MS = 3_600_000;

const timeoutMs = z.int().min(100).max(MAX_TOOL_MS).default(60_000);

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** A tool that the service runs by one HTTP request. */
export const httpToolSchema = z
  .strictObject({
    kind: z.literal('http'),
    name: toolNameSchema,
    description: descriptionSchema.optional(),
    inputSchema: inputSchemaSchema.optional(),
    method: z.enum(METHODS),
    url: faultOf(urlTemplateFault).meta({
      description:
        'With parameters such as `{orderId}` in path or query, each a member of the input. The rules are those of hook URLs.',
    }),
    headers: headersSchema.optional().meta({
      description: 'Sent with every request. A value is text, or names a secret.',
    }),
    idempotent: z.boolean().default(false).meta({
      description: 'Whether a request may be sent again when it is not known what came of it.',
    }),
    timeoutMs: timeoutMs.meta({ description: 'For one request, in milliseconds.' }),
  })
  .meta({ id: 'HttpTool' });

const patterns = z.array(faultOf(toolPatternFault)).max(256);

/** An MCP server whose tools are tools of the profile. */
export const mcpServerSchema = z
  .strictObject({
    kind: z.literal('mcp'),
    name: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/, 'a server is named by 1-64 characters of A-Z a-z 0-9 _ -')
      .meta({ description: 'What the server is called in this profile.' }),
    url: faultOf(hookUrlFault).optional().meta({
      description: 'Address of a streamable HTTP server. The rules are those of hook URLs.',
    }),
    server: z
      .string()
      .regex(/^[A-Za-z0-9._-]{1,128}$/, 'the name of a server that the operator declared')
      .optional()
      .meta({ description: 'Name of a server that the operator declared and that runs as a child process.' }),
    headers: headersSchema.optional().meta({
      description: 'Sent with every request to `url`. A value is text, or names a secret.',
    }),
    prefix: z
      .string()
      .max(128)
      .refine((text) => !/\p{Cc}/u.test(text) && text.trimStart() === text, 'begins a tool name')
      .default('')
      .meta({ description: "Put before the server's own tool names, such as `github.`." }),
    tools: patterns.min(1).optional().meta({
      description: "Which of the server's tools are tools of the profile, by its own names. Absent: all.",
    }),
    idempotentTools: patterns.default([]).meta({
      description:
        'Tools, by the names of the server, that may be called again when it is not known what came of a call. What the server says of itself does not count.',
    }),
    timeoutMs: timeoutMs.meta({ description: 'For one call, in milliseconds.' }),
  })
  .superRefine((entry: unknown, ctx) => {
    const { url, server, headers } = partsOf(entry);
    if ((url === undefined) === (server === undefined)) {
      ctx.addIssue({ code: 'custom', path: ['url'], message: 'write either url or server' });
    } else if (server !== undefined && headers !== undefined) {
      ctx.addIssue({ code: 'custom', path: ['headers'], message: 'only a server with url is sent headers' });
    }
  }, always)
  .meta({ id: 'McpServer' });

/** A parameter that the input's schema does not demand would make calls that cannot be sent. */
export function undemandedParameters(tool: { url: string; inputSchema?: unknown }): string[] {
  const { required } = partsOf(tool.inputSchema);
  if (!Array.isArray(required)) return tool.inputSchema === undefined ? [] : parametersOf(tool.url);
  return parametersOf(tool.url).filter((name) => !required.includes(name));
}

export type HttpTool = z.output<typeof httpToolSchema>;
export type McpServer = z.output<typeof mcpServerSchema>;
