import { randomUUID } from 'node:crypto';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Request, RequestHandler, Response } from 'express';
import type { Scope } from '../../../domain/principal';
import type { Mount } from '../../http/app';
import { readBytes } from '../../http/body-bytes';
import { requireIdentityEncoding, requireJsonMediaType } from '../../http/content-type';
import { exchangeOf } from '../../http/exchange';
import { parseJson } from '../../http/json-body';
import { HttpProblem } from '../../http/problem';
import type { CallMaking } from '../calls/make-call';
import { PendingClaims } from '../calls/pending-claims';
import { VALUE_BODY_LIMIT } from '../json-value-schema';
import type { NexusPrincipal } from '../nexus-principal';
import { answering } from '../outage';
import { visibleProfile, visibleThread } from '../profile-access';
import { SessionEvents } from './event-store';
import { requireKnownOrigin } from './origin';
import { ProfileWatches } from './profile-watch';
import { McpSession } from './session';
import { McpSessions } from './sessions';

/** Below the time that the official SDKs wait for an answer by default, which is 60 s. */
const DEFAULT_WAIT_S = 50;
const MAX_WAIT_S = 86_400;

/** How soon a client whose stream broke asks on. */
const RETRY_MS = 1_000;

export interface McpGatewayOptions {
  readonly making: CallMaking;
  /** Of Portcullis. */
  readonly version: string;
  /** Where clients reach Nexus; browsers may come from there and from this machine. */
  readonly publicUrl?: string;
}

/**
 * `/mcp/{profileId}`: the profile's tools as an MCP server over streamable HTTP (MCP 2025-11-25, "Transports"), with an API
 * key as bearer. What a session does goes through the same calls as everything else.
 */
export function createMcpGateway(options: McpGatewayOptions): Mount<NexusPrincipal, Scope> {
  return {
    path: '/mcp',
    handler: ({ admit, closing }) => {
      const { making, version, publicUrl } = options;
      const withClaims = { ...making, claims: new PendingClaims(making.gateway) };
      const watches = new ProfileWatches(making.toolbox, closing);
      const sessions = new McpSessions(closing);

      const open = async (
        principal: NexusPrincipal,
        profileId: string,
        { threadId, waitSeconds }: Wishes,
      ): Promise<McpSession> => {
        const profile = await visibleProfile(principal, profileId);
        if (threadId !== undefined) {
          const { thread } = await visibleThread(principal, threadId);
          if (thread.profileId !== profileId) throw new HttpProblem('not-found');
        }
        const transport = new StreamableHTTPServerTransport({
          sessionIdGenerator: randomUUID,
          eventStore: new SessionEvents(),
          retryInterval: RETRY_MS,
          onsessioninitialized: (id) => {
            const unwatch = watches.add(principal.store, profile, () => session.toolsChanged());
            sessions.add(id, session, unwatch);
          },
          onsessionclosed: (id) => sessions.remove(id),
        });
        const session = new McpSession(transport, {
          making: withClaims,
          principal,
          profileId,
          version,
          waitSeconds,
          closing,
          ...(threadId !== undefined && { threadId }),
        });
        await session.open();
        return session;
      };

      const serve = async (request: Request, response: Response): Promise<void> => {
        requireKnownOrigin(request, publicUrl);
        const principal = await admit(request, response, { scopes: ['calls'] });
        if (principal === undefined) throw new HttpProblem('unauthenticated');
        exchangeOf(request).annotations = { tenant: principal.tenant };
        const { profileId, wishes } = readAddress(request);
        const body = request.method === 'POST' ? await readBody(request) : undefined;
        const id = request.headers['mcp-session-id'];
        const known = typeof id === 'string' ? sessions.find(id) : undefined;
        if (known?.belongsTo(principal, profileId) === false || (id !== undefined && known === undefined)) {
          throw new HttpProblem('not-found', { detail: 'no such MCP session; initialize a new one' });
        }
        if (known === undefined && !isInitializeRequest(body)) {
          throw new HttpProblem('malformed-request', {
            detail: 'the first request of an MCP session is initialize; the others carry its Mcp-Session-Id',
          });
        }
        const session = known ?? (await open(principal, profileId, wishes));
        session.busy += 1;
        response.once('close', () => {
          session.busy -= 1;
          session.usedAt = performance.now();
        });
        await session.transport.handleRequest(request, response, body);
      };
      return ((request, response, next) => {
        answering(() => serve(request, response)).catch(next);
      }) satisfies RequestHandler;
    },
  };
}

interface Wishes {
  readonly threadId?: string;
  readonly waitSeconds: number;
}

/** `/{profileId}?wait=<seconds>&thread=<id>`, relative to the mount. */
function readAddress(request: Request): { profileId: string; wishes: Wishes } {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  const [, profileId = '', ...rest] = pathname.split('/');
  if (profileId === '' || rest.some((part) => part !== '')) throw new HttpProblem('not-found');
  if (!['GET', 'POST', 'DELETE'].includes(request.method)) {
    throw new HttpProblem('method-not-allowed', { headers: { Allow: 'GET, POST, DELETE' } });
  }
  const wait = searchParams.get('wait') ?? String(DEFAULT_WAIT_S);
  if (!/^\d{1,6}$/.test(wait) || Number(wait) > MAX_WAIT_S) {
    throw new HttpProblem('malformed-request', { detail: `wait is a number of seconds, 0 to ${MAX_WAIT_S}` });
  }
  const threadId = searchParams.get('thread');
  return {
    profileId: decodeURIComponent(profileId),
    wishes: { waitSeconds: Number(wait), ...(threadId !== null && { threadId }) },
  };
}

async function readBody(request: Request): Promise<unknown> {
  requireIdentityEncoding(request);
  requireJsonMediaType(request);
  return parseJson(await readBytes(request, VALUE_BODY_LIMIT));
}
