import { z } from 'zod';
import type { CallGateway } from '../../temporal';
import { callLocation } from '../calls/call-location';
import { reportCallResult, type ReportedResult } from '../calls/report-result';
import { defineRoute, type NexusRoute } from '../define-route';
import { callSchema, callView } from '../views/call';
import { jsonValue, VALUE_BODY_LIMIT } from '../json-value-schema';

const resultSchema = z
  .strictObject({ output: jsonValue.optional(), error: jsonValue.optional() })
  .refine((body) => Number('output' in body) + Number('error' in body) === 1, {
    error: 'send either output or error; null is a value',
  });

export function createToolResultRoute(gateway: CallGateway): NexusRoute {
  return defineRoute({
    method: 'POST',
    path: '/v1/threads/{threadId}/tool-calls/{callId}/output',
    operationId: 'reportToolResult',
    summary: 'Report what came of a tool that the caller ran',
    description:
      '`{ output }` or `{ error }`, any JSON value. The hooks of `after_tool_call` judge it: what they deny is withheld, ' +
      'and the denial says that the tool has run. The same result again answers the call; another result for a ' +
      'call that has ended is refused and noted in the audit by its digest.',
    tags: ['tool calls'],
    auth: { scopes: ['calls'] },
    bodyLimit: VALUE_BODY_LIMIT,
    body: resultSchema,
    problems: ['call-not-decided', 'result-reported', 'call-ended', 'decision-timeout'],
    responses: {
      200: {
        description: 'The call with its result, or with the denial that withholds it',
        schema: callSchema,
      },
      202: {
        description: 'The result waits for an answer',
        schema: callSchema,
        headers: { Location: 'Where the call is found' },
      },
    },
    handler: async ({ params, body, principal, annotate }) => {
      annotate({ callId: params.callId });
      const state = await reportCallResult(gateway, { principal, ...params, result: resultOf(body) });
      const view = await callView(principal, state);
      return view.status === 'waiting'
        ? { status: 202, body: view, headers: { Location: callLocation(view.threadId, view.id) } }
        : { status: 200, body: view };
    },
  });
}

function resultOf({ output, error }: z.output<typeof resultSchema>): ReportedResult {
  return output === undefined ? { kind: 'error', value: error ?? null } : { kind: 'output', value: output };
}
