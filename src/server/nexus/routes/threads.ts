import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { cursorFor } from '../../http/cursor';
import { faultsProblem } from '../../http/fault';
import { cursorQuery, limitQuery, pageOf } from '../../http/page';
import { defineRoute, type NexusRoute } from '../define-route';
import {
  findVisibleThread,
  maySeeOnlyOwnThreads,
  maySeeProfile,
  THREAD_READERS,
  visibleThread,
} from '../profile-access';
import { canBeId } from '../stored-id';
import { metadataSchema } from '../thread-metadata';
import { threadSchema, threadView } from '../views/thread';
import { visiblePage } from '../visible-page';

export function createThreadRoutes(): NexusRoute[] {
  return [createThread, listThreads, readThread];
}

const createThread = defineRoute({
  method: 'POST',
  path: '/v1/threads',
  operationId: 'createThread',
  summary: 'Make a thread',
  tags: ['threads'],
  auth: { scopes: ['calls'] },
  body: z.strictObject({ profileId: z.string(), metadata: metadataSchema.optional() }),
  responses: {
    201: { description: 'Made', schema: threadSchema, headers: { Location: 'Where the thread is' } },
  },
  handler: async ({ body, principal }) => {
    const { key, store } = principal;
    const { profileId, metadata = {} } = body;
    if (!canBeId(profileId) || !maySeeProfile(key, profileId)) throw noSuchProfile();
    const createdAt = new Date().toISOString();
    const thread = { id: uuidv7(), profileId, owner: key.owner, metadata, createdAt };
    if ((await store.threads.create(thread)) === 'no_profile') throw noSuchProfile();
    const view = await threadView(principal, { thread, closed: false });
    return { status: 201, body: view, headers: { Location: `/v1/threads/${thread.id}` } };
  },
});

function noSuchProfile() {
  return faultsProblem([
    { in: 'body', pointer: '/profileId', detail: 'must be the id of a profile', found: 'string' },
  ]);
}

const everyThread = cursorFor('threads', z.string());
const waitingThreads = cursorFor('waiting-threads', z.string());

const listThreads = defineRoute({
  method: 'GET',
  path: '/v1/threads',
  operationId: 'listThreads',
  summary: 'List threads',
  description: 'Keys with the scope `calls` alone see the threads of their owner.',
  tags: ['threads'],
  auth: { scopes: THREAD_READERS },
  query: z.object({
    state: z.enum(['waiting']).optional().meta({ description: 'Only threads that hold an open wait.' }),
    limit: limitQuery,
    cursor: cursorQuery,
  }),
  responses: { 200: { description: 'A page, oldest first', schema: pageOf(threadSchema) } },
  handler: async ({ query, principal }) => {
    const waitingOnly = query.state === 'waiting';
    const mine = maySeeOnlyOwnThreads(principal.key);
    const which = mine ? { owner: principal.key.owner } : waitingOnly ? 'waiting' : 'all';
    const page = await visiblePage(query, {
      cursor: waitingOnly ? waitingThreads : everyThread,
      list: (request) => principal.store.threads.list(request, which),
      show: async (id) => {
        const snapshot = await findVisibleThread(principal, id);
        const view = snapshot && (await threadView(principal, snapshot));
        // The thread may have got its answers since it was listed.
        return waitingOnly && view?.pendingWaits.length === 0 ? undefined : view;
      },
    });
    return { status: 200, body: page };
  },
});

const readThread = defineRoute({
  method: 'GET',
  path: '/v1/threads/{threadId}',
  operationId: 'readThread',
  summary: 'Read a thread',
  tags: ['threads'],
  auth: { scopes: THREAD_READERS },
  responses: { 200: { description: 'The thread', schema: threadSchema } },
  handler: async ({ params, principal }) => {
    const snapshot = await visibleThread(principal, params.threadId);
    return { status: 200, body: await threadView(principal, snapshot) };
  },
});
