import {
  isGrpcServiceError,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
} from '@temporalio/client';
import { callWorkflowId, type CallStart, type ToolCallStart } from '../domain/call';
import type { AnswerInput, ResolveReply } from '../domain/call-answer';
import type { CancelInput, CancelReply, ResultInput, ResultReply } from '../domain/call-machine';
import { turnWorkflowId, type TurnStart, type TurnStatus } from '../domain/turn';
import type { PendingInput, PendingReply } from '../domain/call-pending';
import {
  answerPendingUpdate,
  cancelCallUpdate,
  cancelTurnUpdate,
  claimDecisionUpdate,
  decideUpdate,
  reportResultUpdate,
  resolveWaitUpdate,
} from '../workflows/messages';
import { callOptions, workflowTypeOf, type CallMemo } from '../workflows/call-options';
import { turnOptions } from '../workflows/turn-options';
import type { toolCall } from '../workflows/call/tool-call';
import type { turn } from '../workflows/turn/turn';

/** A message to a workflow, or that there is no running workflow to take it. */
export type Reached<Reply> =
  { readonly kind: 'reply'; readonly reply: Reply } | { readonly kind: 'ended' } | NotReached;

/** `undecided`: no answer in time, but the message may have arrived. `unavailable`: Temporal cannot be reached. */
export type NotReached =
  { readonly kind: 'undecided' } | { readonly kind: 'unavailable'; readonly cause: unknown };

export type Started = { readonly kind: 'started' } | NotReached;

export type Unstored =
  { readonly kind: 'found'; readonly memo: CallMemo } | { readonly kind: 'unknown' } | NotReached;

/** The only way by which the server starts or messages tool calls. Each method answers within the time-out. */
export interface CallGateway {
  /** Starts the call, or joins the one that has its id, and waits for its first outcome, at most `withinMs`. */
  decide(start: CallStart, withinMs?: number): Promise<Started>;
  /** Starts the workflow of a call that the server has stored as allowed. */
  startAllowed(start: ToolCallStart): Promise<Started>;
  resolve(tenant: string, callId: string, input: AnswerInput): Promise<Reached<ResolveReply>>;
  report(tenant: string, callId: string, input: ResultInput): Promise<Reached<ResultReply>>;
  cancel(tenant: string, callId: string, input: CancelInput): Promise<Reached<CancelReply>>;
  /** Makes an undecided call to be found again by the same request. */
  answerPending(tenant: string, callId: string, input: PendingInput): Promise<Reached<PendingReply>>;
  /** Asks for the decision of a call that was answered `pending`. */
  claim(tenant: string, callId: string, input: PendingInput): Promise<Reached<PendingReply>>;
  /** Starts the workflow of a turn that the server has stored. */
  startTurn(start: TurnStart): Promise<Started>;
  /** Gives a turn up, and waits until it has ended. */
  cancelTurn(tenant: string, turnId: string, input: CancelInput): Promise<Reached<{ status: TurnStatus }>>;
  /** What the workflow of a call says of it that the store does not know yet. */
  findUnstored(tenant: string, callId: string): Promise<Unstored>;
  /** Rejects while Temporal cannot be reached. */
  ping(): Promise<void>;
}

export function createCallGateway(options: {
  client: Client;
  taskQueue: string;
  /** Longest time that a caller is kept waiting for Temporal, in milliseconds; default 10,000. */
  timeoutMs?: number;
}): CallGateway {
  const { client, taskQueue, timeoutMs = 10_000 } = options;
  const { workflow } = client;
  const handleOf = (tenant: string, callId: string) =>
    workflow.getHandle<typeof toolCall>(callWorkflowId(tenant, callId));
  const bounded = <Result>(call: () => Promise<Result>, withinMs = timeoutMs): Promise<Result> =>
    client.withDeadline(Date.now() + Math.min(withinMs, timeoutMs), call);
  const reach = async <Reply>(send: () => Promise<Reply>): Promise<Reached<Reply>> => {
    try {
      return { kind: 'reply', reply: await bounded(send) };
    } catch (error) {
      return isEnded(error) ? { kind: 'ended' } : notReached(error);
    }
  };
  const started = async (start: () => Promise<unknown>, withinMs?: number): Promise<Started> => {
    try {
      await bounded(start, withinMs);
      return { kind: 'started' };
    } catch (error) {
      // The call was started before and has ended: the store knows how.
      return isEnded(error) ? { kind: 'started' } : notReached(error);
    }
  };
  return {
    decide: (start, withinMs) =>
      started(
        () =>
          workflow.executeUpdateWithStart(decideUpdate, {
            updateId: 'decide',
            startWorkflowOperation: new WithStartWorkflowOperation<(start: CallStart) => Promise<unknown>>(
              workflowTypeOf(start),
              callOptions(start, taskQueue),
            ),
          }),
        withinMs,
      ),
    startAllowed: (start) =>
      started(() => workflow.start<typeof toolCall>('toolCall', callOptions(start, taskQueue))),
    resolve: (tenant, callId, input) =>
      reach(() =>
        handleOf(tenant, callId).executeUpdate(resolveWaitUpdate, {
          args: [input],
          updateId: `resolve:${input.waitId}:${input.answerId}`,
        }),
      ),
    report: (tenant, callId, input) =>
      reach(() => handleOf(tenant, callId).executeUpdate(reportResultUpdate, { args: [input] })),
    cancel: (tenant, callId, input) =>
      reach(() => handleOf(tenant, callId).executeUpdate(cancelCallUpdate, { args: [input] })),
    answerPending: (tenant, callId, input) =>
      reach(() => handleOf(tenant, callId).executeUpdate(answerPendingUpdate, { args: [input] })),
    claim: (tenant, callId, input) =>
      reach(() => handleOf(tenant, callId).executeUpdate(claimDecisionUpdate, { args: [input] })),
    startTurn: (start) => started(() => workflow.start<typeof turn>('turn', turnOptions(start, taskQueue))),
    cancelTurn: (tenant, turnId, input) =>
      reach(() =>
        workflow
          .getHandle<typeof turn>(turnWorkflowId(tenant, turnId))
          .executeUpdate(cancelTurnUpdate, { args: [input] }),
      ),
    async findUnstored(tenant, callId) {
      try {
        const { memo } = await bounded(() => handleOf(tenant, callId).describe());
        // Written by callOptions.
        const found = memo?.['call'] as CallMemo | undefined;
        return found === undefined ? { kind: 'unknown' } : { kind: 'found', memo: found };
      } catch (error) {
        return error instanceof WorkflowNotFoundError ? { kind: 'unknown' } : notReached(error);
      }
    },
    async ping() {
      await bounded(() => client.connection.workflowService.getSystemInfo({}));
    },
  };
}

function isEnded(error: unknown): boolean {
  return (
    error instanceof WorkflowNotFoundError ||
    error instanceof WorkflowExecutionAlreadyStartedError ||
    // Terminated, or closed before its handler could run.
    error instanceof WorkflowUpdateFailedError
  );
}

/** gRPC's status code; the SDK exports it as a type only. */
const GRPC_DEADLINE_EXCEEDED = 4;

function notReached(error: unknown): NotReached {
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return { kind: 'undecided' };
  const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  if (!isGrpcServiceError(cause)) throw error;
  const code: number = cause.code;
  return code === GRPC_DEADLINE_EXCEEDED ? { kind: 'undecided' } : { kind: 'unavailable', cause };
}
