import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributePair } from '@temporalio/common';
import type { TurnStart, TurnStatus } from '../domain/turn';
import { isTextStart, type CallStart, type CallStatus } from '../domain/call';

// At most 10 keyword attributes per namespace on a stock server; they are stored in clear, so never a value or secret.
const TENANT = defineSearchAttributeKey('PortcullisTenant', SearchAttributeType.KEYWORD);
const THREAD = defineSearchAttributeKey('PortcullisThread', SearchAttributeType.KEYWORD);
const PROFILE = defineSearchAttributeKey('PortcullisProfile', SearchAttributeType.KEYWORD);
const OWNER = defineSearchAttributeKey('PortcullisOwner', SearchAttributeType.KEYWORD);
const TOOL = defineSearchAttributeKey('PortcullisTool', SearchAttributeType.KEYWORD);
const STATUS = defineSearchAttributeKey('PortcullisStatus', SearchAttributeType.KEYWORD);

/** Everything that a Temporal namespace must know before Portcullis can use it. */
export const SEARCH_ATTRIBUTES = [TENANT, THREAD, PROFILE, OWNER, TOOL, STATUS].map(({ name }) => ({
  name,
  type: 'Keyword' as const,
}));

export function attributesAtStart(start: CallStart): SearchAttributePair[] {
  return [
    { key: TENANT, value: start.tenant },
    { key: THREAD, value: start.threadId },
    { key: PROFILE, value: start.profile.id },
    { key: OWNER, value: start.requestedBy.owner },
    ...(isTextStart(start) ? [] : [{ key: TOOL, value: start.tool }]),
    { key: STATUS, value: 'open' },
  ];
}

/** Set once, at the end: each change in between would cost an event in every history. */
export function attributesAtEnd(status: CallStatus): SearchAttributePair[] {
  return [{ key: STATUS, value: status }];
}

export function attributesOfTurn(start: TurnStart): SearchAttributePair[] {
  return [
    { key: TENANT, value: start.tenant },
    { key: THREAD, value: start.threadId },
    { key: PROFILE, value: start.profile.id },
    { key: OWNER, value: start.owner },
    { key: STATUS, value: 'open' },
  ];
}

export function attributesAtTurnEnd(status: TurnStatus): SearchAttributePair[] {
  return [{ key: STATUS, value: status }];
}
