import { WorkflowClient } from '@temporalio/client';

/**
 * Starts workflows for which the real server skips time: when nothing but a timer is left, the workflow's clock jumps
 * to it. Experimental in server and SDK, so it is used here only (`createStartWorkflowRequest` is protected).
 */
export class SkippingWorkflowClient extends WorkflowClient {
  protected override async createStartWorkflowRequest(
    input: Parameters<WorkflowClient['createStartWorkflowRequest']>[0],
  ): ReturnType<WorkflowClient['createStartWorkflowRequest']> {
    const request = await super.createStartWorkflowRequest(input);
    return { ...request, timeSkippingConfig: { enabled: true } };
  }
}
