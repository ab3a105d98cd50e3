import { DEFAULT_INHERITED_ENV_VARS, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ServerAddress } from '../domain/runnable-tool';
import type { OutboundHttp } from '../outbound/outbound-http';
import { resolveHeaders } from '../secrets/header-values';
import type { Secrets } from '../secrets/secrets';
import type { OperatorServer, OperatorServers } from './operator-servers';

/** Largest message of a server, in bytes. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/** The server cannot be reached as things are configured. `message` is for people. */
export class ServerUnusable extends Error {
  override readonly name = 'ServerUnusable';

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export interface Transports {
  readonly http: OutboundHttp;
  readonly secrets: Secrets;
  readonly operatorServers: OperatorServers;
}

/** Told of every answer to a POST that has ended: the text that was posted, and whether the SDK asks on. */
export type OnStreamEnd = (posted: string, canResume: boolean) => void;

/**
 * The way to a server, not opened yet.
 * @throws ServerUnusable
 */
export async function transportTo(
  given: Transports,
  { tenant, address, onStreamEnd }: { tenant: string; address: ServerAddress; onStreamEnd: OnStreamEnd },
): Promise<Transport> {
  const { url, server, headers } = address;
  if (url !== undefined) return httpTransport(given, { tenant, url, headers, onStreamEnd });
  const declared = given.operatorServers.get(tenant)?.get(server ?? '');
  if (declared === undefined) {
    throw new ServerUnusable('server_unknown', `The operator declared no MCP server ${server ?? ''}.`);
  }
  return stdioTransport(given.secrets, tenant, declared);
}

function httpTransport(
  { http, secrets }: Transports,
  to: {
    tenant: string;
    url: string;
    headers: ServerAddress['headers'];
    onStreamEnd: OnStreamEnd;
  },
): Transport {
  const { tenant, url, onStreamEnd } = to;
  const host = new URL(url).hostname;
  const send = async (address: string | URL, init: RequestInit): Promise<Response> => {
    // Anew for every request: a secret may have changed.
    const own = await resolveHeaders(secrets, { tenant, host, headers: to.headers });
    if (!own.ok) throw new ServerUnusable(own.code, own.text);
    const headers = new Headers(init.headers);
    headers.set('user-agent', 'portcullis');
    for (const [name, value] of Object.entries(own.headers)) headers.set(name, value);
    return http.fetch(address, { ...init, headers }, MAX_MESSAGE_BYTES);
  };
  return watchedTransport(url, send, onStreamEnd);
}

/**
 * Streamable HTTP that tells when an answer can no longer come; the SDK itself does not notice.
 */
export function watchedTransport(
  url: string,
  send: (address: string | URL, init: RequestInit) => Promise<Response>,
  onStreamEnd: OnStreamEnd,
): Transport {
  const fetch = async (address: string | URL, init: RequestInit = {}): Promise<Response> => {
    const response = await send(address, init);
    const { body } = init;
    return typeof body === 'string'
      ? watched(response, (canResume) => onStreamEnd(body, canResume))
      : response;
  };
  return new StreamableHTTPClientTransport(new URL(url), { fetch });
}

/** A stream in which an event has an id can be asked for again, which the SDK does. */
function watched(response: Response, onEnd: (canResume: boolean) => void): Response {
  if (response.body === null) return response;
  let resumable = false;
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          onEnd(resumable);
          return;
        }
        resumable ||= /^id:/m.test(Buffer.from(value).toString('latin1'));
        controller.enqueue(value);
      } catch (error) {
        controller.error(error);
        onEnd(resumable);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers: Object.fromEntries(headers) });
}

async function stdioTransport(
  secrets: Secrets,
  tenant: string,
  declared: OperatorServer,
): Promise<Transport> {
  const { command, args, cwd } = declared;
  const env: Record<string, string | undefined> = Object.fromEntries(
    // The SDK would hand these on from its own environment.
    DEFAULT_INHERITED_ENV_VARS.map((name) => [name, undefined]),
  );
  for (const [name, value] of Object.entries(declared.env)) {
    env[name] = typeof value === 'string' ? value : await secretOf(secrets, tenant, value.secret);
  }
  return new StdioClientTransport({
    command,
    args: [...args],
    // Node leaves out what is undefined; the SDK's type does not know that.
    env: env as Record<string, string>,
    stderr: 'ignore',
    maxBufferSize: MAX_MESSAGE_BYTES,
    ...(cwd !== undefined && { cwd }),
  });
}

/** A secret that is limited to hosts goes to no program. */
async function secretOf(secrets: Secrets, tenant: string, name: string): Promise<string> {
  const reading = await secrets.values(tenant, name, 'program.invalid');
  if (reading.ok) return reading.values[0];
  throw new ServerUnusable(reading.code, reading.text);
}
