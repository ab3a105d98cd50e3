import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { JsonValue } from '../domain/json-value';
import type { CallStatus } from '../domain/call';
import type { TurnStatus } from '../domain/turn';
import type { AnswerInput, ResolveReply } from '../domain/call-answer';
import type { PendingInput, PendingReply } from '../domain/call-pending';
import type { CancelInput, CancelReply, ResultInput, ResultReply } from '../domain/call-machine';

/**
 * Waits for the first outcome: the call is parked, allowed, or has ended. It decides nothing itself. Sent under the
 * constant id `decide`, so that every repeat of a request gets the one outcome.
 */
export const decideUpdate = defineUpdate<{ status: CallStatus }>('decide');

/** Somebody's answer to a wait. Every refusal is a reply, not an error. */
export const resolveWaitUpdate = defineUpdate<ResolveReply, [AnswerInput]>('resolveWait');

/**
 * The same for people in the Temporal UI or command line, who get no reply. The payload is a HookResult with the
 * wait's id: `{ "waitId": "…", "decision": "allow" }`.
 */
export const resolveWaitSignal = defineSignal<[JsonValue]>('resolveWait');

/** What came of the tool that the caller ran. */
export const reportResultUpdate = defineUpdate<ResultReply, [ResultInput]>('reportResult');

/** Its caller cannot wait and is about to be told `pending`: the call is made to be found again, unless it is decided. */
export const answerPendingUpdate = defineUpdate<PendingReply, [PendingInput]>('answerPending');

/** An identical request asks for the decision of a call that was answered `pending`; it is handed out once. */
export const claimDecisionUpdate = defineUpdate<PendingReply, [PendingInput]>('claimDecision');

export const cancelCallUpdate = defineUpdate<CancelReply, [CancelInput]>('cancelCall');

/** Gives a turn up; answered when it has ended, with the status that it then has. */
export const cancelTurnUpdate = defineUpdate<{ status: TurnStatus }, [CancelInput]>('cancelTurn');

/** Asks the workflow to compare itself with the store: it adopts what is newer there, or restores what is missing. */
export const catchUpSignal = defineSignal('catchUp');

/** Where a call stands, for people and tools that look into Temporal; Portcullis itself reads the store. */
export const callStateQuery = defineQuery<{ status: CallStatus; n: number; waitId?: string }>('callState');
