import { readFileSync } from 'node:fs';
import { OutboundHttp } from '../../outbound/outbound-http';
import type { Secrets } from '../../secrets/secrets';
import {
  OperatorServersError,
  parseOperatorServers,
  type OperatorServers,
} from '../../tools/operator-servers';
import { Toolbox } from '../../tools/toolbox';
import type { ServiceSettings } from './service-settings';
import { SettingsError } from './settings-error';
import { VERSION } from './version';

/** HTTP to the outside under the operator's rules, and the tools that are run over it. */
export function openToolbox(
  { development, allowedAddresses: allow, mcpServersFile }: ServiceSettings,
  secrets: Secrets,
): { http: OutboundHttp; toolbox: Toolbox } {
  const operatorServers = mcpServersFile === undefined ? new Map() : readServers(mcpServersFile);
  const http = new OutboundHttp({ rules: { development, allow } });
  return { http, toolbox: new Toolbox({ http, secrets, operatorServers, version: VERSION }) };
}

/** @throws SettingsError that says what is wrong with the file */
function readServers(file: string): OperatorServers {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new SettingsError(`PORTCULLIS_MCP_SERVERS_FILE cannot be read: ${file}`, { cause });
  }
  try {
    return parseOperatorServers(text);
  } catch (cause) {
    if (!(cause instanceof OperatorServersError)) throw cause;
    throw new SettingsError(`PORTCULLIS_MCP_SERVERS_FILE declares no servers:\n${cause.message}`, { cause });
  }
}
