import { TypedSearchAttributes } from '@temporalio/common';
import { toolCallWorkflowId, type ToolCallStart } from '../domain/call';
import { attributesAtStart } from './search-attributes';

/** What is known of a call from its workflow alone, before its first step is stored. Never a value. */
export interface ToolCallMemo {
  readonly threadId: string;
  readonly tool: string;
  readonly toolUseId: string | null;
  readonly profileId: string;
  readonly profileVersion: number;
  readonly owner: string;
  readonly requestDigest: string;
  readonly subjectDigest: string;
  readonly createdAt: string;
}

/**
 * A worker that died in the middle of a task is noticed after this time. Half of what a server waits for an answer, so
 * that another worker can still give it; far more than the longest local activity.
 */
const WORKFLOW_TASK_TIMEOUT = '5 s';

/** How the workflow of a call is started, by whoever starts it: under one id, once. */
export function toolCallOptions(start: ToolCallStart, taskQueue: string) {
  const memo: ToolCallMemo = {
    threadId: start.threadId,
    tool: start.tool,
    toolUseId: start.toolUseId ?? null,
    profileId: start.profile.id,
    profileVersion: start.profile.version,
    owner: start.requestedBy.owner,
    requestDigest: start.requestDigest,
    subjectDigest: start.subject.digest,
    createdAt: start.createdAt,
  };
  return {
    workflowId: toolCallWorkflowId(start.tenant, start.callId),
    taskQueue,
    args: [start] as [ToolCallStart],
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    typedSearchAttributes: new TypedSearchAttributes(attributesAtStart(start)),
    staticSummary: summaryOf(start),
    memo: { call: memo },
  } as const;
}

function summaryOf({ tool, requestedBy, profile }: ToolCallStart): string {
  const [first, ...others] = profile.hooks;
  const gate =
    first === undefined ? 'no hook' : [first.hook.id, ...others.map(({ hook }) => hook.id)].join(', ');
  return `${tool} for ${requestedBy.owner} · ${gate}`.slice(0, 200).toWellFormed();
}
