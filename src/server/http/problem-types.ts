import { GATE_PROBLEM_TYPES, type ProblemType } from './gate-problem-types';

/** Every problem this API answers with. The key is the last segment of the stable `type`: `/problems/<code>`. */
export const PROBLEM_TYPES = {
  'malformed-request': {
    status: 400,
    title: 'Malformed request',
    when: 'The request line, a header or the percent-encoding of the path is not valid HTTP.',
    remedy: 'Correct the request; sending it again unchanged gives the same answer.',
  },
  'malformed-body': {
    status: 400,
    title: 'Malformed body',
    when: 'The body is not UTF-8, or is not exactly one JSON value.',
    remedy: 'Correct the text at `position`.',
  },
  'body-required': {
    status: 400,
    title: 'Body required',
    when: 'The operation needs a JSON body and none was sent.',
    remedy: 'Send the body that the operation documents, with Content-Type: application/json.',
  },
  'invalid-parameters': {
    status: 400,
    title: 'Invalid parameters',
    when: 'A path, query or header parameter is unknown, missing or of the wrong form.',
    remedy: 'Correct every entry of `errors`.',
  },
  'invalid-cursor': {
    status: 400,
    title: 'Invalid cursor',
    when: 'The cursor did not come from an answer of this same list.',
    remedy: 'Start the list again without a cursor.',
  },
  unauthenticated: {
    status: 401,
    title: 'Authentication required',
    when: 'The key is missing, malformed, unknown or revoked. Which of them is never said.',
    remedy: 'Send `Authorization: Bearer <key>` with a live key.',
  },
  forbidden: {
    status: 403,
    title: 'Not permitted',
    when: 'The key is live and does not carry what the operation needs.',
    remedy: 'Use a key with one of the scopes in `neededScopes`.',
  },
  'not-found': {
    status: 404,
    title: 'Not found',
    when: 'Nothing of that name exists, or it belongs to another. The two are not told apart.',
    remedy: 'Check the path and the id.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    when: 'The path exists and does not serve this method.',
    remedy: 'Use one of the methods in the Allow header.',
  },
  'request-timeout': {
    status: 408,
    title: 'Request took too long to arrive',
    when: 'Headers or body were not complete in time.',
    remedy: 'Send the request again on a new connection.',
  },
  conflict: {
    status: 409,
    title: 'Conflict',
    when: 'The present state does not permit the operation.',
    remedy: 'Read the resource again and decide anew.',
  },
  ...GATE_PROBLEM_TYPES,
  'precondition-failed': {
    status: 412,
    title: 'Precondition failed',
    when: 'If-Match names another version than the present one.',
    remedy: 'Read the resource again and repeat the change with its ETag.',
  },
  'content-too-large': {
    status: 413,
    title: 'Body too large',
    when: 'The body is larger than `limit` bytes.',
    remedy: 'Send less.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'Unsupported media type',
    when: 'The body is not declared as application/json in UTF-8, or is compressed.',
    remedy: 'Send Content-Type: application/json and no Content-Encoding.',
  },
  validation: {
    status: 422,
    title: 'Invalid body',
    when: 'The JSON of the body does not have the documented shape.',
    remedy: 'Correct every entry of `errors`.',
  },
  'unfaithful-json': {
    status: 422,
    title: 'JSON that cannot be kept unchanged',
    when: 'The body repeats a member name, or holds a lone surrogate, a number beyond IEEE double or 2^53-1, or too deep nesting.',
    remedy: 'Correct every entry of `errors`; send large integers as strings.',
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'Idempotency-Key reused',
    when: 'The key was first sent with another request.',
    remedy: 'Use a new key for a new request.',
  },
  'precondition-required': {
    status: 428,
    title: 'Precondition required',
    when: 'The change needs If-Match and none was sent.',
    remedy: 'Read the resource and send its ETag in If-Match.',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    when: 'The key made more requests than its window permits, or the address failed to authenticate too often.',
    remedy: 'Wait for Retry-After seconds.',
  },
  'headers-too-large': {
    status: 431,
    title: 'Headers too large',
    when: 'The header fields are larger than the server reads.',
    remedy: 'Send fewer or shorter headers.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    when: 'A fault of this server.',
    remedy: 'Report `requestId` to the operator.',
  },
  unavailable: {
    status: 503,
    title: 'Unavailable',
    when: 'Something this server depends on does not answer. The work may have been accepted or not; nothing is allowed.',
    remedy:
      'Ask again after Retry-After, at Location when it is given, or repeat under the same Idempotency-Key.',
  },
  'decision-timeout': {
    status: 504,
    title: 'No decision in time',
    when: 'The request was sent on, and no decision came in time. It may have arrived or not; nothing is allowed.',
    remedy:
      'Ask again at Location, or repeat the request under the same Idempotency-Key. A 404 at Location: it never arrived.',
  },
} as const satisfies Record<string, ProblemType>;

export type ProblemCode = keyof typeof PROBLEM_TYPES;

/** The URI reference that stands in `type` (RFC 9457 §3.1.1). */
export function problemTypeUri(code: ProblemCode): string {
  return `/problems/${code}`;
}
