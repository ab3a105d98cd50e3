import { z } from 'zod';
import type { TurnRecord } from '../../../domain/turn';
import { cursorFor } from '../../http/cursor';
import { idempotencyKeyHeader } from '../../http/idempotency-key';
import { cursorQuery, limitQuery, pageOf } from '../../http/page';
import { preferHeader, preferenceApplied } from '../../http/prefer';
import type { CallGateway } from '../../temporal';
import { defineRoute, type NexusRoute } from '../define-route';
import { endOf } from '../end-of-request';
import { jsonValue, VALUE_BODY_LIMIT } from '../json-value-schema';
import type { NexusPrincipal } from '../nexus-principal';
import { THREAD_READERS, visibleThread } from '../profile-access';
import { startTurn } from '../turns/start-turn';
import { awaitTurn, findTurn, giveUpTurn } from '../turns/turn-access';
import { turnLocation } from '../turns/turn-location';
import { turnSchema, turnView } from '../views/turn';
import { visiblePage } from '../visible-page';

const tags = ['turns'];
const LOCATION = 'Where the turn is found';

const answers = {
  200: { description: 'The turn, ended', schema: turnSchema, headers: { Location: LOCATION } },
  202: { description: 'The turn runs', schema: turnSchema, headers: { Location: LOCATION } },
} as const;

export function createTurnRoutes(gateway: CallGateway): NexusRoute[] {
  return [makeTurn(gateway), listTurns, readTurn, cancelTurn(gateway)];
}

const makeTurn = (gateway: CallGateway) =>
  defineRoute({
    method: 'POST',
    path: '/v1/threads/{threadId}/turns',
    operationId: 'makeTurn',
    summary: 'Have a turn run here',
    description:
      "The user's text goes through the hooks of `before_input`, the model of the profile answers it with the help of " +
      'tools, whose calls are made as tool calls of the thread, and its answer goes through the hooks of ' +
      '`after_output`. Nothing of the answer is shown before that. Tools are run by the caller: it reports the output ' +
      'of each call that is allowed. Progress is in the events of the thread.',
    tags,
    auth: { scopes: ['calls'] },
    headers: z.object({ Prefer: preferHeader, 'Idempotency-Key': idempotencyKeyHeader.optional() }),
    bodyLimit: VALUE_BODY_LIMIT,
    body: z.strictObject({
      text: jsonValue
        .refine((value) => typeof value === 'string', 'a text')
        .meta({ type: 'string', description: 'At most 1 MiB of JSON.' }),
      actor: jsonValue.optional().meta({ description: 'On whose behalf the caller asks; kept as it is.' }),
    }),
    problems: ['no-model', 'turn-running', 'thread-closed', 'idempotency-key-reused', 'decision-timeout'],
    responses: answers,
    handler: async ({ params, headers, body, principal, request, annotate }) => {
      const { text, actor } = body;
      const record = await startTurn(gateway, {
        principal,
        threadId: params.threadId,
        idempotencyKey: headers['Idempotency-Key'],
        request: { text, ...(actor !== undefined && { actor }) },
      });
      annotate({ turnId: record.id });
      const seconds = headers.Prefer.waitSeconds;
      const patience = { seconds: seconds ?? 0, signal: endOf(request) };
      return reply(principal, await awaitTurn(principal, record, patience), seconds);
    },
  });

const turnsCursor = cursorFor('turns', z.string());

const listTurns = defineRoute({
  method: 'GET',
  path: '/v1/threads/{threadId}/turns',
  operationId: 'listTurns',
  summary: 'List the turns of a thread',
  tags,
  auth: { scopes: THREAD_READERS },
  query: z.object({ limit: limitQuery, cursor: cursorQuery }),
  responses: { 200: { description: 'A page, oldest first', schema: pageOf(turnSchema) } },
  handler: async ({ params, query, principal }) => {
    await visibleThread(principal, params.threadId);
    const { turns } = principal.store;
    const page = await visiblePage(query, {
      cursor: turnsCursor,
      list: (request) => turns.list(params.threadId, request),
      show: async (id) => {
        const snapshot = await turns.read(id);
        return snapshot && turnView(principal, snapshot.record);
      },
    });
    return { status: 200, body: page };
  },
});

const readTurn = defineRoute({
  method: 'GET',
  path: '/v1/threads/{threadId}/turns/{turnId}',
  operationId: 'readTurn',
  summary: 'Read a turn, or wait for its end',
  tags,
  auth: { scopes: THREAD_READERS },
  headers: z.object({ Prefer: preferHeader }),
  responses: answers,
  handler: async ({ params, headers, principal, request, annotate }) => {
    annotate({ turnId: params.turnId });
    const { record } = await findTurn({ principal, ...params });
    const seconds = headers.Prefer.waitSeconds;
    const patience = { seconds: seconds ?? 0, signal: endOf(request) };
    return reply(principal, await awaitTurn(principal, record, patience), seconds);
  },
});

const cancelTurn = (gateway: CallGateway) =>
  defineRoute({
    method: 'DELETE',
    path: '/v1/threads/{threadId}/turns/{turnId}',
    operationId: 'cancelTurn',
    summary: 'Give a turn up',
    description:
      'Stops the model and gives up every call of the turn. A tool that is running already is not stopped.',
    tags,
    auth: { scopes: ['calls'] },
    problems: ['turn-ended', 'decision-timeout'],
    responses: { 200: { description: 'The turn, cancelled', schema: turnSchema } },
    handler: async ({ params, principal, annotate }) => {
      annotate({ turnId: params.turnId });
      await findTurn({ principal, ...params });
      const record = await giveUpTurn(gateway, { principal, ...params });
      return { status: 200, body: await turnView(principal, record) };
    },
  });

async function reply(principal: NexusPrincipal, record: TurnRecord, waited: number | undefined) {
  const body = await turnView(principal, record);
  const applied = waited === undefined ? {} : { 'Preference-Applied': preferenceApplied({ wait: waited }) };
  const headers = { Location: turnLocation(record.threadId, record.id), ...applied };
  return record.status === 'running'
    ? ({ status: 202, body, headers } as const)
    : ({ status: 200, body, headers } as const);
}
