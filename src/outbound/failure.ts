import { AddressRefused } from './guarded-connect';

/** Why there is no answer. `text` is for people and never has a byte of what was sent or received. */
export interface OutboundFailure {
  readonly kind: 'failed';
  readonly outcome: 'timeout' | 'unreachable' | 'invalid';
  readonly code: OutboundFailureCode;
  readonly text: string;
}

/** The same where an error has to be thrown. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';

  constructor(
    readonly failure: OutboundFailure,
    options?: ErrorOptions,
  ) {
    super(failure.text, options);
  }
}

export type OutboundFailureCode =
  | 'url_refused'
  | 'address_refused'
  | 'dns_failed'
  | 'connection_refused'
  | 'tls_failed'
  | 'connection_failed'
  | 'connection_reset'
  | 'hook_timeout'
  | 'answer_too_large'
  | 'answer_encoded'
  | 'redirected';

const TEXTS = {
  address_refused:
    'It was not asked: its address is private, local or reserved; only the operator can allow it.',
  dns_failed: 'Its name could not be resolved.',
  connection_refused: 'It refused the connection.',
  tls_failed: 'No TLS connection that can be trusted came about.',
  connection_failed: 'It could not be connected to.',
  connection_reset: 'The connection ended before its answer was complete.',
} as const satisfies Partial<Record<OutboundFailureCode, string>>;

const DNS = /^(ENOTFOUND|EAI_.*|ENODATA|ESERVFAIL|EREFUSED|ENONAME)$/;
const TLS =
  /^(ERR_TLS.*|ERR_SSL.*|EPROTO|CERT_.*|DEPTH_ZERO.*|SELF_SIGNED.*|UNABLE_TO_.*|HOSTNAME_MISMATCH)$/;
const RESET =
  /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES_.*|UND_ERR_HEADERS_OVERFLOW|UND_ERR_ABORTED|HPE_.*|UND_ERR_REQ_CONTENT.*)$/;

/** What an error of a request means. */
export function failureOf(error: unknown): OutboundFailure {
  const code = codeOf(error);
  return { kind: 'failed', outcome: 'unreachable', code, text: TEXTS[code] };
}

function codeOf(error: unknown): keyof typeof TEXTS {
  const causes = causesOf(error);
  if (causes.some((cause) => cause instanceof AddressRefused)) return 'address_refused';
  const codes = causes.map((cause) => codeIn(cause));
  const some = (pattern: RegExp): boolean => codes.some((code) => pattern.test(code));
  if (some(DNS)) return 'dns_failed';
  if (some(/^ECONNREFUSED$/)) return 'connection_refused';
  if (some(TLS)) return 'tls_failed';
  return some(RESET) ? 'connection_reset' : 'connection_failed';
}

/** Undici's parser gives its errors no code. */
function codeIn(cause: unknown): string {
  if (typeof cause !== 'object' || cause === null) return '';
  if ('name' in cause && cause.name === 'HTTPParserError') return 'HPE_ERROR';
  return 'code' in cause ? String(cause.code) : '';
}

/** The error, what caused it, and the members of an aggregate. */
function causesOf(error: unknown): unknown[] {
  if (!(error instanceof Error)) return [error];
  const members = error instanceof AggregateError ? error.errors : [];
  return [error, ...members.flatMap(causesOf), ...(error.cause === undefined ? [] : causesOf(error.cause))];
}
