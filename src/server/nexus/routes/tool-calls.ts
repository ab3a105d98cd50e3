import { z } from 'zod';
import type { ToolCallState } from '../../../domain/call-state';
import { toolNameFault } from '../../../domain/tool-pattern';
import { faultsProblem } from '../../http/fault';
import type { HttpProblem } from '../../http/problem';
import { cursorFor } from '../../http/cursor';
import { idempotencyKeyHeader } from '../../http/idempotency-key';
import { cursorQuery, limitQuery, pageOf } from '../../http/page';
import { preferHeader, preferenceApplied } from '../../http/prefer';
import type { CallGateway } from '../../temporal';
import { awaitDecision } from '../calls/await-decision';
import { findCall } from '../calls/call-access';
import { callLocation } from '../calls/call-location';
import { giveUpCall } from '../calls/give-up';
import { makeCall, type CallMaking } from '../calls/make-call';
import { makeCallInTime, type MadeInTime } from '../calls/pending-call';
import { PendingClaims } from '../calls/pending-claims';
import { defineRoute, type NexusRoute } from '../define-route';
import { endOf } from '../end-of-request';
import type { NexusPrincipal } from '../nexus-principal';
import { THREAD_READERS, visibleThread } from '../profile-access';
import { jsonValue, VALUE_BODY_LIMIT } from '../json-value-schema';
import { callSchema, callView, pendingView, unstoredCallView, type CallView } from '../views/call';
import { visiblePage } from '../visible-page';

const tags = ['tool calls'];
const LOCATION = 'Where the call is found';

const toolName = z.string().superRefine((name, ctx) => {
  const fault = toolNameFault(name);
  if (fault !== undefined) ctx.addIssue({ code: 'custom', message: fault });
});

const answers = {
  200: { description: 'The call, decided', schema: callSchema, headers: { Location: LOCATION } },
  202: {
    description: 'The call waits for an answer, or its tool is running',
    schema: callSchema,
    headers: { Location: LOCATION },
  },
} as const;

export function createToolCallRoutes(making: CallMaking): NexusRoute[] {
  const { gateway } = making;
  return [makeToolCall(making), listToolCalls, readToolCall(gateway), cancelToolCall(gateway)];
}

const makeToolCall = (making: CallMaking) => {
  const claims = new PendingClaims(making.gateway);
  return defineRoute({
    method: 'POST',
    path: '/v1/threads/{threadId}/tool-calls',
    operationId: 'makeToolCall',
    summary: 'Ask whether a tool may run',
    description:
      'Runs the hooks of `before_tool_call`. A denial is a result: 200 with `status: "denied"`. A repeat under the ' +
      'same Idempotency-Key answers the call as it is now. With `Prefer: wait=N, pending=deny` a call that is ' +
      'undecided after N seconds is answered as denied by `pending` and goes on; the same request again gets its ' +
      'decision, once.',
    tags,
    auth: { scopes: ['calls'] },
    headers: z.object({ Prefer: preferHeader, 'Idempotency-Key': idempotencyKeyHeader.optional() }),
    bodyLimit: VALUE_BODY_LIMIT,
    body: z.strictObject({
      tool: toolName.meta({ description: '1-256 characters; compared byte for byte.' }),
      input: jsonValue,
      toolUseId: z.string().min(1).max(256).optional().meta({
        description: "The model's id of the call. Only data: it may repeat.",
      }),
      execution: z.enum(['caller', 'server']).default('caller').meta({
        description:
          'Who runs the tool. `server`: the service, for a tool of kind http or mcp; it wants an Idempotency-Key.',
      }),
      actor: jsonValue.optional().meta({ description: 'On whose behalf the caller asks; kept as it is.' }),
    }),
    problems: [
      'thread-closed',
      'call-ended',
      'idempotency-key-reused',
      'decision-timeout',
      'tool-server-unavailable',
    ],
    responses: answers,
    handler: async ({ params, headers, body, principal, request, annotate }) => {
      const { tool, input, toolUseId, actor, execution } = body;
      if (execution === 'server' && headers['Idempotency-Key'] === undefined) throw keyRequired();
      const make = {
        principal,
        threadId: params.threadId,
        idempotencyKey: headers['Idempotency-Key'],
        request: {
          tool,
          input,
          execution,
          ...(toolUseId !== undefined && { toolUseId }),
          ...(actor !== undefined && { actor }),
        },
      };
      const { waitSeconds } = headers.Prefer;
      const patience = { seconds: waitSeconds ?? 0, signal: endOf(request) };
      if (headers.Prefer.get('pending') === 'deny') {
        const made = await makeCallInTime({ ...making, claims }, make, { patience });
        annotate({ callId: made.state.call.id });
        return replyInTime(principal, made, waitSeconds);
      }
      const state = await makeCall(making, make);
      annotate({ callId: state.call.id });
      return reply(principal, await awaitDecision(principal.store, state, patience), waitSeconds);
    },
  });
};

/** Without one a repeat would run the tool once more. */
function keyRequired(): HttpProblem {
  const detail = 'required with execution: server; it names the request, so that its repeat runs nothing';
  return faultsProblem([{ in: 'header', pointer: '/Idempotency-Key', detail, found: 'nothing' }]);
}

/** For a caller that must have an answer now: whatever is undecided is a denial for now. */
async function replyInTime(
  principal: NexusPrincipal,
  { kind, state }: MadeInTime,
  waited: number | undefined,
) {
  const view = await callView(principal, state);
  const body = kind === 'pending' ? pendingView(view) : view;
  const applied = preferenceApplied({ ...(waited !== undefined && { wait: waited }), pending: 'deny' });
  const headers = { Location: callLocation(view.threadId, view.id), 'Preference-Applied': applied };
  return { status: 200, body, headers } as const;
}

const callsCursor = cursorFor('tool-calls', z.string());

const listToolCalls = defineRoute({
  method: 'GET',
  path: '/v1/threads/{threadId}/tool-calls',
  operationId: 'listToolCalls',
  summary: 'List the calls of a thread',
  tags,
  auth: { scopes: THREAD_READERS },
  query: z.object({
    limit: limitQuery,
    cursor: cursorQuery,
    toolUseId: z.string().min(1).max(256).optional().meta({
      description: "Only the last call to which the model gave this id, also under a repeated request's id.",
    }),
  }),
  responses: { 200: { description: 'A page, oldest first', schema: pageOf(callSchema) } },
  handler: async ({ params, query: { toolUseId, ...query }, principal }) => {
    await visibleThread(principal, params.threadId);
    const { calls } = principal.store;
    if (toolUseId !== undefined) {
      const callId = await calls.findByToolUse(params.threadId, toolUseId);
      const found = callId === undefined ? undefined : await calls.readToolCall(callId);
      const items = found === undefined ? [] : [await callView(principal, found.state)];
      return { status: 200, body: { items } };
    }
    const page = await visiblePage(query, {
      cursor: callsCursor,
      list: (request) => calls.list(params.threadId, request),
      show: async (id) => {
        const snapshot = await calls.readToolCall(id);
        return snapshot && callView(principal, snapshot.state);
      },
    });
    return { status: 200, body: page };
  },
});

const readToolCall = (gateway: CallGateway) =>
  defineRoute({
    method: 'GET',
    path: '/v1/threads/{threadId}/tool-calls/{callId}',
    operationId: 'readToolCall',
    summary: 'Read a call, or wait for its decision',
    description:
      'With `Prefer: wait=N` the answer comes when the call neither waits nor runs, or after N seconds.',
    tags,
    auth: { scopes: THREAD_READERS },
    headers: z.object({ Prefer: preferHeader }),
    responses: answers,
    handler: async ({ params, headers, principal, request, annotate }) => {
      annotate({ callId: params.callId });
      const found = await findCall(principal, gateway, params);
      if (found.kind === 'unstored') return parked(unstoredCallView(params.callId, found.memo));
      const seconds = headers.Prefer.waitSeconds ?? 0;
      const state = await awaitDecision(principal.store, found.state, { seconds, signal: endOf(request) });
      return reply(principal, state, headers.Prefer.waitSeconds);
    },
  });

const cancelToolCall = (gateway: CallGateway) =>
  defineRoute({
    method: 'DELETE',
    path: '/v1/threads/{threadId}/tool-calls/{callId}',
    operationId: 'cancelToolCall',
    summary: 'Give a call up',
    description: 'Clears its wait. A tool that is running already is not stopped by this.',
    tags,
    auth: { scopes: ['calls'] },
    problems: ['call-ended'],
    responses: { 200: { description: 'The call, cancelled', schema: callSchema } },
    handler: async ({ params, principal, annotate }) => {
      annotate({ callId: params.callId });
      const state = await giveUpCall(gateway, { principal, ...params });
      return { status: 200, body: await callView(principal, state) };
    },
  });

async function reply(principal: NexusPrincipal, state: ToolCallState, waited: number | undefined) {
  const view = await callView(principal, state);
  const applied = waited === undefined ? {} : { 'Preference-Applied': preferenceApplied({ wait: waited }) };
  const headers = { Location: callLocation(view.threadId, view.id), ...applied };
  return view.status === 'waiting' || view.status === 'running'
    ? parked(view, applied)
    : ({ status: 200, body: view, headers } as const);
}

function parked(view: CallView, headers: Readonly<Record<string, string>> = {}) {
  const Location = callLocation(view.threadId, view.id);
  return { status: 202, body: view, headers: { ...headers, Location } } as const;
}
