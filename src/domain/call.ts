import type { Denial } from './denial';
import { sha256Hex, canonicalJson } from './digest';
import type { JsonValue } from './json-value';
import type { TextPoint } from './point';
import type { PinnedProfile } from './profile';
import type { BlobSubject, Subject } from './subject';

export type CallStatus =
  'waiting' | 'allowed' | 'running' | 'completed' | 'denied' | 'failed' | 'cancelled' | 'expired';

/** A call that has ended stays as it is. */
export function isOpen(status: CallStatus): boolean {
  return status === 'waiting' || status === 'allowed' || status === 'running';
}

/** Who runs the tool once the call is allowed. */
export type Execution = 'caller' | 'server';

/** Whether a tool has run. `unknown`: it may have. */
export type Executed = true | false | 'unknown';

/** Who asked for a call. `owner` is authenticated; `actor` is what the caller says about its end user. */
export interface RequestedBy {
  readonly owner: string;
  readonly keyId: string;
}

/**
 * The arguments of a workflow that has something judged: everything it decides on. What is judged is called a call,
 * whether a tool is called or a text is handed in.
 */
export type CallStart = ToolCallStart | TextStart;

interface StartBase {
  readonly tenant: string;
  readonly callId: string;
  readonly threadId: string;
  /** Of a call that is a part of a turn. */
  readonly turnId?: string;
  /** The turn judges for a hook: no other agent is asked in it. */
  readonly insideReview?: true;
  readonly profile: PinnedProfile;
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
}

export interface ToolCallStart extends StartBase {
  readonly tool: string;
  /** The model's id of the call; only data, it may repeat. */
  readonly toolUseId?: string;
  readonly execution: Execution;
  /** True when no permission and no hook matched and the server has stored the call as allowed before it started the workflow. */
  readonly storedAsAllowed: boolean;
}

/** A text on its way to a model or to a user. */
export interface TextStart extends StartBase {
  readonly point: TextPoint;
  readonly subject: BlobSubject;
}

/** Whether the service runs the tool. */
export function runsHere(start: CallStart): boolean {
  return !isTextStart(start) && start.execution === 'server';
}

export function isTextStart(start: CallStart): start is TextStart {
  return 'point' in start;
}

/** A call as it is stored; the API's shapes are made from it. */
export type CallRecord = ToolCallRecord | TextRecord;

export interface RecordBase {
  readonly id: string;
  readonly threadId: string;
  readonly turnId?: string;
  readonly status: CallStatus;
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

export interface ToolCallRecord extends RecordBase {
  readonly tool: string;
  readonly toolUseId?: string;
  readonly execution: Execution;
  /** Whether the tool has run; once the service has tried to run it. */
  readonly executed?: Executed;
  /** The composed value to run with. */
  readonly input: Subject;
  readonly output?: BlobSubject;
  readonly error?: BlobSubject;
  /** Digest of what was reported as output or error, whatever hooks made of it. */
  readonly reportedDigest?: string;
}

/** A text is `completed` when it is let through. */
export interface TextRecord extends RecordBase {
  readonly point: TextPoint;
  /** Once it is let through. */
  readonly text?: BlobSubject;
}

export function isToolCall(record: CallRecord): record is ToolCallRecord {
  return 'tool' in record;
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

/** The same for a text. */
export function textRequestDigest({
  point,
  text,
  actor,
}: {
  point: TextPoint;
  text: string;
  actor?: JsonValue;
}): string {
  return sha256Hex(canonicalJson({ point, text, ...(actor !== undefined && { actor }) }));
}

/** The record of a call at its first moment. */
export function newCallRecord(start: CallStart, status: CallStatus, expiresAt: string): CallRecord {
  const base = newRecordBase(start, status, expiresAt);
  if (isTextStart(start)) return { ...base, point: start.point };
  const { tool, toolUseId, execution, subject } = start;
  return { ...base, tool, ...(toolUseId !== undefined && { toolUseId }), execution, input: subject };
}

function newRecordBase(start: CallStart, status: CallStatus, expiresAt: string): RecordBase {
  return {
    id: start.callId,
    threadId: start.threadId,
    ...(start.turnId !== undefined && { turnId: start.turnId }),
    status,
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

/** Ids of texts begin with the like; those of tool calls are UUIDs. */
const TEXT_ID_PREFIXES = { before_input: 'input-', after_output: 'output-' } as const;

/** @param uuid of its own, or made of what makes requests equal */
export function textIdOf(point: TextPoint, uuid: string): string {
  return TEXT_ID_PREFIXES[point] + uuid;
}

/** The point of a text, or nothing for a tool call. */
export function textPointOf(callId: string): TextPoint | undefined {
  if (callId.startsWith(TEXT_ID_PREFIXES.before_input)) return 'before_input';
  return callId.startsWith(TEXT_ID_PREFIXES.after_output) ? 'after_output' : undefined;
}

/** Workflow ids are found from tenant and call alone; tenants hold no `:`. */
export function callWorkflowId(tenant: string, callId: string): string {
  const kind = textPointOf(callId) === undefined ? 'tool-call' : 'text-gate';
  return `${kind}:${tenant}:${callId}`;
}
