import type { CallGateway } from '../../temporal';
import { closeThread } from '../calls/close-thread';
import { defineRoute, type NexusRoute } from '../define-route';
import { visibleThread } from '../profile-access';
import { threadSchema, threadView } from '../views/thread';

export function createCloseThreadRoute(gateway: CallGateway): NexusRoute {
  return defineRoute({
    method: 'DELETE',
    path: '/v1/threads/{threadId}',
    operationId: 'closeThread',
    summary: 'Close a thread',
    description:
      'Cancels its work and clears its waits. What happened in it stays readable. Repeating it is harmless.',
    tags: ['threads'],
    auth: { scopes: ['calls'] },
    responses: {
      200: { description: 'Closed; nothing in it is open', schema: threadSchema },
      202: { description: 'Closed; calls are still being cancelled', schema: threadSchema },
    },
    handler: async ({ params, principal, request }) => {
      const left = await closeThread(gateway, { principal, ...params, signal: request.signal });
      const body = await threadView(principal, await visibleThread(principal, params.threadId));
      return left === 0 ? { status: 200, body } : { status: 202, body };
    },
  });
}
