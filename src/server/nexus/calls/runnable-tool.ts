import { inputFault } from '../../../domain/input-schema';
import type { Profile } from '../../../domain/profile';
import type { KnownTool } from '../../../domain/runnable-tool';
import type { Toolbox } from '../../../tools/toolbox';
import { faultsProblem } from '../../http/fault';
import { HttpProblem } from '../../http/problem';
import type { CallRequest } from './call-request';

/**
 * The tool that the service is to run for a request.
 * @throws HttpProblem when the profile has no such tool, when its server cannot be asked, or when the input is not one
 * for it
 */
export async function runnableTool(
  toolbox: Toolbox,
  { tenant, profile }: { tenant: string; profile: Profile },
  { tool: name, input }: CallRequest,
): Promise<KnownTool> {
  const { tool, unreachable } = await toolbox.find(tenant, profile.configuration, name);
  if (tool?.runs === undefined) {
    if (tool === undefined && unreachable.length > 0) throw serversUnavailable(unreachable);
    const detail =
      tool === undefined
        ? 'the profile has no tool of this name; list it in configuration.tools, or send execution: caller'
        : 'the profile says that the caller runs this tool; send execution: caller';
    throw faultsProblem([{ in: 'body', pointer: '/tool', detail }]);
  }
  const fault = tool.inputSchema === undefined ? undefined : inputFault(tool.inputSchema, input);
  if (fault === undefined) return tool;
  throw faultsProblem([{ in: 'body', pointer: `/input${fault.pointer}`, detail: fault.detail }]);
}

function serversUnavailable(servers: readonly string[]): HttpProblem {
  return new HttpProblem('tool-server-unavailable', {
    detail: 'an MCP server of the profile that may have this tool cannot be asked for it',
    extensions: { servers },
    headers: { 'Retry-After': '5' },
  });
}
