import { PROBLEM_TYPES, problemTypeUri, type ProblemCode } from './problem-types';

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/** Members that RFC 9457 defines, or that every problem of this API carries. */
type ReservedMember = 'type' | 'title' | 'status' | 'detail' | 'instance' | 'requestId';

interface HttpProblemOptions {
  /** What is particular to this occurrence. Reaches the caller: never a secret, never a value from the request. */
  readonly detail?: string;
  /** Extension members such as `errors`, `callId`, `outcome`. */
  readonly extensions?: Readonly<Record<string, unknown>> & Readonly<Partial<Record<ReservedMember, never>>>;
  /** Such as Location or Retry-After. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Logged, never sent. */
  readonly cause?: unknown;
}

/** An answer that is a problem (RFC 9457). Throw it anywhere below a route's handler. */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem';
  readonly status: number;
  readonly detail: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly #extensions: Readonly<Record<string, unknown>>;

  constructor(
    readonly code: ProblemCode,
    options: HttpProblemOptions = {},
  ) {
    super(options.detail ?? PROBLEM_TYPES[code].title, { cause: options.cause });
    this.status = PROBLEM_TYPES[code].status;
    this.detail = options.detail;
    this.headers = options.headers ?? {};
    this.#extensions = options.extensions ?? {};
  }

  /** The document as it is sent. */
  toDocument(requestId: string | undefined): Record<string, unknown> {
    return {
      ...this.#extensions,
      type: problemTypeUri(this.code),
      title: PROBLEM_TYPES[this.code].title,
      status: this.status,
      ...(this.detail === undefined ? {} : { detail: this.detail }),
      ...(requestId === undefined ? {} : { requestId }),
    };
  }
}
