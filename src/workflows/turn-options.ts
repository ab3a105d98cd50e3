import { TypedSearchAttributes } from '@temporalio/common';
import { turnWorkflowId, type TurnStart } from '../domain/turn';
import { attributesOfTurn } from './search-attributes';

/** How the workflow of a turn is started, by whoever starts it: under one id, once. */
export function turnOptions(start: TurnStart, taskQueue: string) {
  return {
    workflowId: turnWorkflowId(start.tenant, start.turnId),
    taskQueue,
    args: [start] as [TurnStart],
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    typedSearchAttributes: new TypedSearchAttributes(attributesOfTurn(start)),
    staticSummary: `Turn for ${start.owner}`.slice(0, 200).toWellFormed(),
  } as const;
}
