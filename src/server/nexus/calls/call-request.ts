import type { Execution } from '../../../domain/call';
import type { JsonValue } from '../../../domain/json-value';
import type { NexusPrincipal } from '../nexus-principal';

export interface CallRequest {
  readonly tool: string;
  readonly input: JsonValue;
  /** Who runs the tool. */
  readonly execution: Execution;
  readonly toolUseId?: string;
  readonly actor?: JsonValue;
}

export interface MakeCall {
  readonly principal: NexusPrincipal;
  readonly threadId: string;
  readonly request: CallRequest;
  readonly idempotencyKey: string | undefined;
  /** Longest time to wait for the first outcome, in milliseconds; absent: as long as for any answer of Temporal. */
  readonly withinMs?: number;
}
