import type { Configuration } from '../domain/profile-schema';
import {
  addressOf,
  listedTools,
  toolOfServer,
  type KnownTool,
  type RunnableTool,
} from '../domain/runnable-tool';
import type { McpServer } from '../domain/runnable-tool-schema';
import type { OutboundHttp } from '../outbound/outbound-http';
import type { Secrets } from '../secrets/secrets';
import { runHttpTool, type ToolRequest } from './http-tool';
import { McpServers } from './mcp-servers';
import { runMcpTool } from './mcp-tool';
import type { OperatorServers } from './operator-servers';
import type { ToolResult } from './tool-result';

export interface ToolboxGiven {
  readonly http: OutboundHttp;
  readonly secrets: Secrets;
  /** Programs that speak MCP, as the operator declared them. */
  readonly operatorServers: OperatorServers;
  /** Of Portcullis, which servers are told. */
  readonly version: string;
}

export interface Found {
  readonly tools: readonly KnownTool[];
  /** Names of servers that could not be asked for their tools. */
  readonly unreachable: readonly string[];
}

/** The tools of profiles: which there are, and how those that the service runs are run. */
export class Toolbox {
  private readonly servers: McpServers;

  constructor(private readonly given: ToolboxGiven) {
    this.servers = new McpServers(given);
  }

  /**
   * All tools of a profile, in its order. Where two have one name, those that the profile itself lists come first, then
   * those of the earlier server.
   */
  async list(tenant: string, { tools }: Pick<Configuration, 'tools'>): Promise<Found> {
    const servers = tools.filter((tool) => tool.kind === 'mcp');
    const asked = await Promise.all(servers.map((entry) => this.toolsOf(tenant, entry)));
    const found = new Map<string, KnownTool>();
    for (const tool of [...listedTools(tools), ...asked.flatMap((answer) => answer ?? [])]) {
      if (!found.has(tool.name)) found.set(tool.name, tool);
    }
    const unreachable = servers.flatMap(({ name }, index) => (asked[index] === undefined ? [name] : []));
    return { tools: [...found.values()], unreachable };
  }

  /** The tool of this name; only servers that can have it are asked. */
  async find(
    tenant: string,
    { tools }: Pick<Configuration, 'tools'>,
    name: string,
  ): Promise<{ tool?: KnownTool; unreachable: readonly string[] }> {
    const listed = listedTools(tools).find((tool) => tool.name === name);
    if (listed !== undefined) return { tool: listed, unreachable: [] };
    const candidates = tools.filter((tool) => tool.kind !== 'mcp' || name.startsWith(tool.prefix));
    const found = await this.list(tenant, { tools: candidates });
    const tool = found.tools.find((known) => known.name === name);
    return { ...(tool !== undefined && { tool }), unreachable: found.unreachable };
  }

  /** Rejects only when the signal is aborted. */
  run(request: ToolRequest<RunnableTool>): Promise<ToolResult> {
    const { tool } = request;
    return tool.kind === 'http'
      ? runHttpTool(this.given, { ...request, tool })
      : runMcpTool(this.servers, { ...request, tool });
  }

  /** Calls the listener whenever tools of the profile's servers may have changed, until it is stopped. */
  watch(tenant: string, { tools }: Pick<Configuration, 'tools'>, listener: () => void): () => void {
    const stops = tools.flatMap((tool) =>
      tool.kind === 'mcp' ? [this.servers.watch({ tenant, address: addressOf(tool) }, listener)] : [],
    );
    return () => stops.forEach((stop) => stop());
  }

  close(): Promise<void> {
    return this.servers.close();
  }

  /** Nothing: the server could not be asked. */
  private async toolsOf(tenant: string, entry: McpServer): Promise<KnownTool[] | undefined> {
    try {
      const declared = await this.servers.list({ tenant, address: addressOf(entry) });
      return declared.flatMap((tool) => toolOfServer(entry, tool) ?? []);
    } catch {
      return undefined;
    }
  }
}
