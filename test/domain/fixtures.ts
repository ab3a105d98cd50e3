import type { EventDraft, EventType } from '../../src/domain/audit';
import type { ClientProcessor, Hook, PlacedHook } from '../../src/domain/hook';
import type { JsonValue } from '../../src/domain/json-value';
import type { Principal, Scope } from '../../src/domain/principal';
import { inlineSubject, type BlobSubject, type InlineSubject } from '../../src/domain/subject';
import type { ToolCallStart } from '../../src/domain/call';

/** When every call of these tests begins. */
export const T0 = Date.parse('2026-01-01T00:00:00.000Z');
export const WAIT_MS = 60_000;
export const OUTPUT_MS = 30_000;
export const AGENT = 'agent';

export const subjectOf = (value: JsonValue): InlineSubject =>
  inlineSubject({ point: 'before_tool_call', tool: 't', value });

export const blobOf = (name: string): BlobSubject => ({
  kind: 'blob',
  digest: `digest of ${name}`,
  blob: name,
});

export const person = (owner: string, ...scopes: Scope[]): Principal => ({
  owner,
  scopes: scopes.length === 0 ? ['waits:resolve'] : scopes,
});

export interface HookWish {
  readonly mode?: Hook['mode'];
  readonly onFailure?: Hook['onFailure'];
  readonly client?: Partial<ClientProcessor>;
}

export function placedHook(index: number, { mode, onFailure, client }: HookWish = {}): PlacedHook {
  return {
    index,
    hook: {
      id: `h${index}`,
      point: 'before_tool_call',
      processor: {
        type: 'client',
        asyncTimeoutMs: WAIT_MS,
        minApprovals: 1,
        allowSelfApproval: false,
        ...client,
      },
      onFailure: onFailure ?? 'fail_closed',
      mode: mode ?? 'enforce',
    },
  };
}

/** A call under these hooks, in this order. */
export function startWith(hooks: readonly HookWish[], change: Partial<ToolCallStart> = {}): ToolCallStart {
  return {
    tenant: 'tenant',
    callId: 'c1',
    threadId: 'thread',
    profile: {
      id: 'profile',
      version: 3,
      hooks: hooks.map((wish, index) => placedHook(index, wish)),
      timeouts: { outputTimeoutMs: OUTPUT_MS },
    },
    tool: 't',
    execution: 'caller',
    subject: subjectOf('original'),
    requestDigest: 'request',
    requestedBy: { owner: AGENT, keyId: 'key' },
    operatorSignal: true,
    createdAt: new Date(T0).toISOString(),
    storedAsAllowed: false,
    ...change,
  };
}

type DataOf<Type extends EventType> = Extract<EventDraft, { type: Type }>['data'];

export function eventsOf<Type extends EventType>(events: readonly EventDraft[], type: Type): DataOf<Type>[] {
  // The type of an event decides the type of its data; the compiler does not follow that through a generic.
  return events.filter((event) => event.type === type).map(({ data }) => data as DataOf<Type>);
}

export const throughJson = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;
