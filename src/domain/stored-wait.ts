import type { Wait, WaitOutcome } from './wait';

/** A wait with what the store needs to list it and to answer a repeated resolve. */
export interface StoredWait {
  readonly wait: Wait;
  readonly callId: string;
  readonly threadId: string;
  /** Absent at the text points. */
  readonly tool?: string;
  readonly answers: readonly AcceptedAnswer[];
}

/** An answer that counted, and what its sender was told. The same answer id is told the same again. */
export interface AcceptedAnswer {
  /** From the resolver's owner and Idempotency-Key; without a key, unique to the request. */
  readonly answerId: string;
  /** Tells a repeat from another answer under the same key. */
  readonly answerDigest: string;
  readonly result: ResolveResult;
}

export type ResolveResult =
  | { readonly kind: 'resolved'; readonly outcome: WaitOutcome; readonly subjectDigest: string }
  | {
      readonly kind: 'counted';
      readonly counted: number;
      readonly needed: number;
      readonly subjectDigest: string;
    };
