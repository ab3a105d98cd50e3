import { connect } from 'node:net';
import { pino, type Logger } from 'pino';
import { createHttpApp, type HttpAppOptions } from '../../src/server/http/app';
import { listen, type Listening, type ListenOptions } from '../../src/server/http/listen';
import { routeDefiner, type Route } from '../../src/server/http/route';

export type TestScope = 'calls' | 'read' | 'admin';

export interface TestPrincipal {
  readonly keyId: string;
  readonly scopes: readonly TestScope[];
}

export const defineRoute = routeDefiner<TestPrincipal, TestScope>();

/** Keys that the test server knows: the token is the id. */
const PRINCIPALS: readonly TestPrincipal[] = [
  { keyId: 'caller', scopes: ['calls'] },
  { keyId: 'reader', scopes: ['read'] },
];

export interface TestServer extends Listening {
  /** Every line the server logged. */
  readonly lines: Record<string, unknown>[];
}

type Options = Partial<Omit<HttpAppOptions<TestPrincipal, TestScope>, 'routes'>> & {
  readonly listen?: Partial<ListenOptions>;
};

const open: Listening[] = [];

export async function serve(
  routes: readonly Route<TestPrincipal, TestScope>[],
  options: Options = {},
): Promise<TestServer> {
  const lines: Record<string, unknown>[] = [];
  const { listen: listenOptions, ...appOptions } = options;
  const app = createHttpApp({
    routes,
    authenticate: async (token) => PRINCIPALS.find((principal) => principal.keyId === token),
    hasScope: (principal, scope) => principal.scopes.includes(scope),
    keyId: (principal) => principal.keyId,
    limits: {
      perKey: { windowMs: 60_000, limit: 10_000 },
      failedAuthentications: { windowMs: 60_000, limit: 10_000 },
    },
    logger: recordingLogger(lines),
    ...appOptions,
  });
  const listening = await listen(app, { port: 0, host: '127.0.0.1', ...listenOptions });
  open.push(listening);
  return { ...listening, lines };
}

function recordingLogger(lines: Record<string, unknown>[]): Logger {
  return pino(
    { base: null },
    { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
}

/** Breaks whatever a test left open. */
export async function closeServers(): Promise<void> {
  await Promise.all(open.splice(0).map((server) => server.close(0)));
}

export const asCaller = { Authorization: 'Bearer caller' };

export function postJson(
  url: string,
  text: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { ...asCaller, 'Content-Type': 'application/json', ...headers },
    body: text,
  });
}

export async function problemOf(response: Response): Promise<Record<string, unknown>> {
  expect(response.headers.get('Content-Type')).toBe('application/problem+json');
  const problem = (await response.json()) as Record<string, unknown>;
  expect(problem['status']).toBe(response.status);
  return problem;
}

/** Everything the server says to these bytes, until it closes the connection. */
export function sayRaw(port: number, parts: readonly (string | Uint8Array)[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      for (const part of parts) socket.write(part);
    });
    let heard = '';
    socket.on('data', (chunk) => (heard += chunk.toString('latin1')));
    socket.on('close', () => resolve(heard));
    socket.on('error', reject);
  });
}
