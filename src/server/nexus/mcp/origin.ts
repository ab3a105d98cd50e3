import type { IncomingMessage } from 'node:http';
import { isLocalUrl } from '../../../domain/hook-url';
import { HttpProblem } from '../../http/problem';

/**
 * A page of another site in somebody's browser must not talk to this server, under whatever name it has made its own
 * address point here (MCP 2025-11-25, "Transports", security warning). Clients that are no browser send no Origin.
 * @throws HttpProblem forbidden
 */
export function requireKnownOrigin({ headers }: IncomingMessage, publicUrl: string | undefined): void {
  const { origin } = headers;
  if (origin === undefined || isKnown(origin, publicUrl)) return;
  throw new HttpProblem('forbidden', { detail: 'pages of this origin may not use the MCP gateway' });
}

function isKnown(origin: string, publicUrl: string | undefined): boolean {
  if (!URL.canParse(origin)) return false;
  const url = new URL(origin);
  return isLocalUrl(url) || (publicUrl !== undefined && url.host === new URL(publicUrl).host);
}
