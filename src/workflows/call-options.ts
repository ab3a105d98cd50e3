import { TypedSearchAttributes } from '@temporalio/common';
import { callWorkflowId, isTextStart, type CallStart, type Execution } from '../domain/call';
import type { TextPoint } from '../domain/point';
import { attributesAtStart } from './search-attributes';

/** What is known of a call from its workflow alone, before its first step is stored. Never a value. */
export type CallMemo = ToolCallMemo | TextMemo;

interface MemoBase {
  readonly threadId: string;
  readonly profileId: string;
  readonly profileVersion: number;
  readonly owner: string;
  readonly requestDigest: string;
  readonly subjectDigest: string;
  readonly createdAt: string;
}

export interface ToolCallMemo extends MemoBase {
  readonly tool: string;
  readonly toolUseId: string | null;
  /** Absent in calls from before the service ran tools. */
  readonly execution?: Execution;
}

export interface TextMemo extends MemoBase {
  readonly point: TextPoint;
}

/**
 * A worker that died in the middle of a task is noticed after this time. Half of what a server waits for an answer, so
 * that another worker can still give it; far more than the longest local activity.
 */
const WORKFLOW_TASK_TIMEOUT = '5 s';

/** The workflow that decides a call. */
export function workflowTypeOf(start: CallStart): 'toolCall' | 'textGate' {
  return isTextStart(start) ? 'textGate' : 'toolCall';
}

/** How the workflow of a call is started, by whoever starts it: under one id, once. */
export function callOptions<Start extends CallStart>(start: Start, taskQueue: string) {
  return {
    workflowId: callWorkflowId(start.tenant, start.callId),
    taskQueue,
    args: [start] as [Start],
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    typedSearchAttributes: new TypedSearchAttributes(attributesAtStart(start)),
    staticSummary: summaryOf(start),
    memo: { call: memoOf(start) },
  } as const;
}

function memoOf(start: CallStart): CallMemo {
  const base: MemoBase = {
    threadId: start.threadId,
    profileId: start.profile.id,
    profileVersion: start.profile.version,
    owner: start.requestedBy.owner,
    requestDigest: start.requestDigest,
    subjectDigest: start.subject.digest,
    createdAt: start.createdAt,
  };
  return isTextStart(start)
    ? { ...base, point: start.point }
    : { ...base, tool: start.tool, toolUseId: start.toolUseId ?? null, execution: start.execution };
}

function summaryOf(start: CallStart): string {
  const { requestedBy, profile } = start;
  const [first, ...others] = profile.hooks;
  const gate =
    first === undefined ? 'no hook' : [first.hook.id, ...others.map(({ hook }) => hook.id)].join(', ');
  const what = isTextStart(start) ? `Text at ${start.point}` : start.tool;
  return `${what} for ${requestedBy.owner} · ${gate}`.slice(0, 200).toWellFormed();
}
