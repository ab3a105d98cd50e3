import type { z } from 'zod';

type AnswerHeaders = Readonly<Record<string, string>>;

/** What a route declares about one status. */
export interface ResponseSpec {
  readonly description: string;
  /** The JSON body. Absent: no JSON body. */
  readonly schema?: z.ZodType;
  /** Names to descriptions. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further media types of the same status, such as `text/event-stream` or `text/html`. */
  readonly media?: readonly string[];
}

export type Responses = Readonly<Record<number, ResponseSpec>>;

interface JsonAnswer<Status extends number, Body> {
  readonly status: Status;
  readonly body: Body;
  readonly headers?: AnswerHeaders;
}

interface EmptyAnswer<Status extends number> {
  readonly status: Status;
  readonly headers?: AnswerHeaders;
}

/** A body that is not JSON. */
interface MediaAnswer<Status extends number> {
  readonly status: Status;
  readonly contentType: string;
  readonly content: string | Uint8Array;
  readonly headers?: AnswerHeaders;
}

/** A 200 whose body is produced as the client reads it. Made by `sse(...)` and `ndjson(...)`. */
export interface StreamAnswer {
  readonly status: 200;
  readonly contentType: string;
  readonly headers?: AnswerHeaders;
  /** @param stop aborted when the client has gone or the server closes. */
  readonly chunks: (stop: AbortSignal) => AsyncIterable<string>;
  /** Send the head before the first chunk is there. Otherwise a failure before it can still be a problem. */
  readonly headFirst: boolean;
  /** A chunk to send after each silence of `everyMs`. */
  readonly keepAlive?: { readonly everyMs: number; readonly chunk: string };
}

type AnswerOf<Status extends number, Spec extends ResponseSpec> =
  | (Spec extends { readonly schema: infer S extends z.ZodType }
      ? JsonAnswer<Status, z.output<S>>
      : Spec extends { readonly media: readonly string[] }
        ? never
        : EmptyAnswer<Status>)
  | (Spec extends { readonly media: readonly string[] } ? MediaAnswer<Status> | StreamOf<Status> : never);

type StreamOf<Status extends number> = Status extends 200 ? StreamAnswer : never;

/** What a handler may return under its declared responses. */
export type Answer<R extends Responses> = {
  [Status in Extract<keyof R, number>]: AnswerOf<Status, R[Status]>;
}[Extract<keyof R, number>];

export type AnyAnswer =
  JsonAnswer<number, unknown> | EmptyAnswer<number> | MediaAnswer<number> | StreamAnswer;
