import { canonicalJson, sha256Hex } from './digest';
import type { JsonValue } from './json-value';
import type { HttpTool, McpServer } from './runnable-tool-schema';
import type { ConfiguredTool } from './tool-schema';
import { toolMatches } from './tool-pattern';

/**
 * What a call keeps of a tool that the service runs, from the call's first moment: where it is and how it is called. It
 * names secrets and holds none.
 */
export type RunnableTool = RunnableHttpTool | RunnableMcpTool;

export type RunnableHttpTool = Pick<HttpTool, 'kind' | 'method' | 'url' | 'headers' | 'timeoutMs'> &
  Repeatable;

export interface RunnableMcpTool extends Repeatable {
  readonly kind: 'mcp';
  readonly server: ServerAddress;
  /** As the server calls it. */
  readonly remoteName: string;
  /** Of the input schema that the server declared when the call began. */
  readonly schemaDigest: string;
  readonly timeoutMs: number;
}

interface Repeatable {
  /** Whether it may run again when it is not known what came of it. */
  readonly idempotent: boolean;
}

/** How an MCP server is reached: by address, or under the name by which the operator declared it. */
export type ServerAddress = Pick<McpServer, 'url' | 'server' | 'headers'>;

/** A tool as the profile's own list, or a server, describes it. */
export interface KnownTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema?: JsonValue;
  readonly outputSchema?: JsonValue;
  readonly annotations?: JsonValue;
  /** Absent: the caller runs it. */
  readonly runs?: RunnableTool;
}

/** A tool that an MCP server declares, by the server's own name. */
export interface DeclaredTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonValue;
  readonly outputSchema?: JsonValue;
  readonly annotations?: JsonValue;
}

/** The tools that the profile's list names one by one. */
export function listedTools(tools: readonly ConfiguredTool[]): KnownTool[] {
  return tools.flatMap((tool): KnownTool[] => {
    if (tool.kind === 'mcp') return [];
    const { name, description, inputSchema } = tool;
    const known = {
      name,
      ...(description !== undefined && { description }),
      // Checked by the schema of profiles: JSON.
      ...(inputSchema !== undefined && { inputSchema: inputSchema as JsonValue }),
    };
    if (tool.kind === 'caller') return [known];
    const { kind, method, url, headers, idempotent, timeoutMs } = tool;
    const runs = { kind, method, url, ...(headers && { headers }), idempotent, timeoutMs };
    return [{ ...known, runs }];
  });
}

/** A declared tool as one of the profile; nothing when the profile leaves it out. */
export function toolOfServer(entry: McpServer, declared: DeclaredTool): KnownTool | undefined {
  const { prefix, tools, idempotentTools, timeoutMs } = entry;
  const { name, ...described } = declared;
  if (tools !== undefined && !tools.some((pattern) => toolMatches(pattern, name))) return undefined;
  return {
    ...described,
    name: prefix + name,
    runs: {
      kind: 'mcp',
      server: addressOf(entry),
      remoteName: name,
      schemaDigest: schemaDigest(declared.inputSchema),
      idempotent: idempotentTools.some((pattern) => toolMatches(pattern, name)),
      timeoutMs,
    },
  };
}

export function addressOf({ url, server, headers }: McpServer): ServerAddress {
  return {
    ...(url !== undefined && { url }),
    ...(server !== undefined && { server }),
    ...(headers && { headers }),
  };
}

export function schemaDigest(schema: JsonValue): string {
  return sha256Hex(canonicalJson(schema));
}
