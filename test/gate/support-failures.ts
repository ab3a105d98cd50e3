import { gzipSync } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import type { SceneHook } from '../support/scene';
import type { Behaviour } from '../support/receiver';

/** In every answer of a failing receiver: nothing of it may be told to anybody. */
export const MARKER = 'MARKER-of-what-the-receiver-sent';

/** One kind of failure, and what is to be told of it. */
export interface Failure {
  readonly kind: string;
  readonly behave?: Behaviour;
  /** Instead of the receiver's own address. */
  readonly url?: (receiver: string) => string;
  readonly hook?: Partial<SceneHook>;
  readonly outcome: 'timeout' | 'invalid' | 'unreachable';
  readonly code: string;
  /** How often it is tried, with `retries: 1`. */
  readonly attempts: 1 | 2;
  /** How many deliveries reach the receiver; default: as many as attempts. */
  readonly deliveries?: number;
}

const raw =
  (status: number, body: string | Buffer, headers: Record<string, string> = {}): Behaviour =>
  (_, response) => {
    response.setHeader('x-said', MARKER);
    response.statusMessage = MARKER;
    response.writeHead(status, headers).end(body);
    return undefined;
  };

const text = (body: string): Behaviour => raw(200, body, { 'content-type': 'application/json' });

const destroyed =
  (before: (response: ServerResponse) => void): Behaviour =>
  (_, response) => {
    before(response);
    setTimeout(() => response.destroy(), 20);
    return undefined;
  };

const never: Behaviour = () => undefined;

const SLOW = { timeoutMs: 250 };

const status = (code: number, outcome: Failure['outcome'], reason: string, attempts: 1 | 2): Failure => ({
  kind: `status ${code}`,
  behave: raw(code, MARKER, { location: 'http://127.0.0.1:1/' }),
  outcome,
  code: reason,
  attempts,
});

const invalid = (kind: string, body: string, code = 'answer_invalid'): Failure => ({
  kind,
  behave: text(body),
  outcome: 'invalid',
  code,
  attempts: 1,
});

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

export const FAILURES: readonly Failure[] = [
  {
    kind: 'DNS',
    url: () => 'https://no-such-name.invalid/',
    outcome: 'unreachable',
    code: 'dns_failed',
    attempts: 2,
    deliveries: 0,
  },
  {
    kind: 'refused',
    url: () => 'http://localhost:1443/',
    outcome: 'unreachable',
    code: 'connection_refused',
    attempts: 2,
    deliveries: 0,
  },
  {
    kind: 'TLS',
    url: (url) => url.replace('http:', 'https:'),
    outcome: 'unreachable',
    code: 'tls_failed',
    attempts: 2,
    deliveries: 0,
  },
  {
    kind: 'a private address',
    url: () => 'https://10.0.0.1/',
    outcome: 'unreachable',
    code: 'url_refused',
    attempts: 1,
    deliveries: 0,
  },
  {
    kind: 'the metadata address',
    url: () => 'https://[::ffff:169.254.169.254]/',
    outcome: 'unreachable',
    code: 'url_refused',
    attempts: 1,
    deliveries: 0,
  },
  {
    kind: 'reset before headers',
    behave: destroyed(() => undefined),
    outcome: 'unreachable',
    code: 'connection_reset',
    attempts: 2,
  },
  {
    kind: 'reset mid-body',
    behave: destroyed((response) =>
      response.writeHead(200, { 'content-length': '1000' }).write(`{"decision":"allow","reason":"${MARKER}`),
    ),
    outcome: 'unreachable',
    code: 'connection_reset',
    attempts: 2,
  },
  { kind: 'slow headers', behave: never, hook: SLOW, outcome: 'timeout', code: 'hook_timeout', attempts: 2 },
  {
    kind: 'slow body',
    behave: (_, response) => {
      response.writeHead(200).write(`{"decision":"allow","reason":"${MARKER}`);
      return undefined;
    },
    hook: SLOW,
    outcome: 'timeout',
    code: 'hook_timeout',
    attempts: 2,
  },
  status(301, 'invalid', 'redirect', 1),
  status(302, 'invalid', 'redirect', 1),
  status(307, 'invalid', 'redirect', 1),
  status(400, 'invalid', 'http_status', 1),
  status(401, 'invalid', 'http_status', 1),
  status(404, 'invalid', 'http_status', 1),
  status(408, 'unreachable', 'http_status', 2),
  status(425, 'unreachable', 'http_status', 2),
  status(429, 'unreachable', 'http_status', 2),
  status(500, 'unreachable', 'http_status', 2),
  status(503, 'unreachable', 'http_status', 2),
  status(201, 'invalid', 'http_status', 1),
  { ...status(204, 'invalid', 'http_status', 1), behave: raw(204, '') },
  invalid('HTML', `<html>${MARKER}</html>`, 'answer_not_json'),
  invalid('nothing', '', 'answer_not_json'),
  invalid('two objects', `{"decision":"allow"} {"decision":"deny","reason":"${MARKER}"}`, 'answer_not_json'),
  invalid('half an object', `{"decision":"allow","reason":"${MARKER}`, 'answer_not_json'),
  {
    ...invalid('bytes that are no text', ''),
    behave: raw(200, Buffer.from([0x7b, 0xff, 0x7d])),
    code: 'answer_not_json',
  },
  invalid('{}', '{}'),
  invalid('null', 'null'),
  invalid('[]', '[]'),
  invalid('true', 'true'),
  invalid('"allow"', '"allow"'),
  invalid('another case', '{"decision":"Allow"}'),
  invalid('a space', '{"decision":"allow "}'),
  invalid('another text', `"${MARKER}"`),
  invalid('a misspelt key', `{"decison":"deny","reason":"${MARKER}"}`),
  invalid('a deny with a misspelt rewrite', `{"decision":"deny","rewrit":{"a":"${MARKER}"}}`),
  invalid('a decision that nobody knows', `{"decision":"${MARKER}"}`),
  invalid('an unknown key', `{"decision":"allow","${MARKER}":{}}`),
  invalid('a repeated key', '{"decision":"deny","decision":"allow"}'),
  invalid('a deny with a rewrite', `{"decision":"deny","updatedInput":"${MARKER}"}`),
  invalid('a rewrite of the wrong kind', `{"decision":"allow","updatedOutput":"${MARKER}"}`),
  invalid('a text rewrite', `{"decision":"allow","updatedText":"${MARKER}"}`),
  invalid('a long reason', JSON.stringify({ decision: 'allow', reason: MARKER.repeat(150) })),
  invalid('a reason that is no text', `{"decision":"allow","reason":{"a":"${MARKER}"}}`),
  invalid('a lone surrogate', `{"decision":"allow","updatedInput":"${MARKER}\\ud800"}`),
  invalid('a lone surrogate in a reason', `{"decision":"allow","reason":"${MARKER}\\ud800"}`),
  invalid('an integer beyond 2^53-1', '{"decision":"allow","updatedInput":9007199254740993}'),
  invalid('129 levels', `{"decision":"allow","updatedInput":${nested(129)}}`),
  {
    kind: '10 MiB',
    behave: raw(200, Buffer.alloc(10 * 1_048_576, MARKER)),
    outcome: 'invalid',
    code: 'answer_too_large',
    attempts: 1,
  },
  {
    kind: 'a gzip bomb',
    behave: raw(200, gzipSync(Buffer.alloc(50 * 1_048_576)), { 'content-encoding': 'gzip' }),
    outcome: 'invalid',
    code: 'answer_encoded',
    attempts: 1,
  },
  {
    kind: 'a secret that is not mapped',
    hook: { secret: 'nobody' },
    outcome: 'unreachable',
    code: 'secret_missing',
    attempts: 1,
    deliveries: 0,
  },
  {
    kind: 'a secret for other hosts',
    hook: { headers: { 'X-Key': { secret: 'elsewhere' } } },
    outcome: 'unreachable',
    code: 'secret_not_for_host',
    attempts: 1,
    deliveries: 0,
  },
];
