import type { Denial } from './denial';
import { sha256Hex, canonicalJson } from './digest';
import type { JsonValue } from './json-value';
import type { PinnedProfile } from './profile';
import type { BlobSubject, Subject } from './subject';

export type CallStatus =
  'waiting' | 'allowed' | 'running' | 'completed' | 'denied' | 'failed' | 'cancelled' | 'expired';

/** A call that has ended stays as it is. */
export function isOpen(status: CallStatus): boolean {
  return status === 'waiting' || status === 'allowed' || status === 'running';
}

/** Who asked for a call. `owner` is authenticated; `actor` is what the caller says about its end user. */
export interface RequestedBy {
  readonly owner: string;
  readonly keyId: string;
}

/** The arguments of the tool-call workflow: everything it decides on. */
export interface ToolCallStart {
  readonly tenant: string;
  readonly callId: string;
  readonly threadId: string;
  readonly profile: PinnedProfile;
  readonly tool: string;
  /** The model's id of the call; only data, it may repeat. */
  readonly toolUseId?: string;
  readonly execution: 'caller';
  readonly subject: Subject;
  readonly requestDigest: string;
  readonly requestedBy: RequestedBy;
  readonly actor?: JsonValue;
  /** Whether a signal from the Temporal UI or command line may resolve waits of this call. */
  readonly operatorSignal: boolean;
  /** Who may answer where a hook names nobody; absent: every key with scope waits:resolve. */
  readonly defaultApprovers?: readonly string[] | undefined;
  /** RFC 3339. */
  readonly createdAt: string;
  /** True when no permission and no hook matched and the server has stored the call as allowed before it started the workflow. */
  readonly storedAsAllowed: boolean;
}

/** A tool call as it is stored; the API's shape is made from it. */
export interface CallRecord {
  readonly id: string;
  readonly threadId: string;
  readonly status: CallStatus;
  readonly tool: string;
  readonly toolUseId?: string;
  readonly execution: 'caller';
  /** The composed value to run with. */
  readonly input: Subject;
  readonly output?: BlobSubject;
  readonly error?: BlobSubject;
  /** Digest of what was reported as output or error, whatever hooks made of it. */
  readonly reportedDigest?: string;
  readonly denial?: Denial;
  readonly profileId: string;
  readonly profileVersion: number;
  readonly requestDigest: string;
  readonly requestedBy: RequestedBy;
  readonly actor?: JsonValue;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** When the state ends by itself: the wait's expiry while waiting, the output's deadline while allowed. */
  readonly expiresAt?: string;
}

/** The same request under one Idempotency-Key has the same digest, however its JSON was spelled. */
export function requestDigest(request: {
  tool: string;
  input: JsonValue;
  toolUseId?: string;
  execution: string;
  actor?: JsonValue;
}): string {
  const { tool, input, toolUseId, execution, actor } = request;
  return sha256Hex(
    canonicalJson({
      tool,
      input,
      execution,
      ...(toolUseId !== undefined && { toolUseId }),
      ...(actor !== undefined && { actor }),
    }),
  );
}

/** The record of a call at its first moment. */
export function newCallRecord(start: ToolCallStart, status: CallStatus, expiresAt: string): CallRecord {
  return {
    id: start.callId,
    threadId: start.threadId,
    status,
    tool: start.tool,
    ...(start.toolUseId !== undefined && { toolUseId: start.toolUseId }),
    execution: start.execution,
    input: start.subject,
    profileId: start.profile.id,
    profileVersion: start.profile.version,
    requestDigest: start.requestDigest,
    requestedBy: start.requestedBy,
    ...(start.actor !== undefined && { actor: start.actor }),
    createdAt: start.createdAt,
    updatedAt: start.createdAt,
    expiresAt,
  };
}

/** Workflow ids are found from tenant and call alone; tenants hold no `:`. */
export function toolCallWorkflowId(tenant: string, callId: string): string {
  return `tool-call:${tenant}:${callId}`;
}
