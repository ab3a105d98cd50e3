import { z } from 'zod';
import type { ToolCallGateway } from '../../temporal';
import { reportCallResult, type ReportedResult } from '../calls/report-result';
import { defineRoute, type NexusRoute } from '../define-route';
import { callSchema, callView } from '../views/call';
import { jsonValue } from './tool-calls';

const resultSchema = z
  .strictObject({ output: jsonValue.optional(), error: jsonValue.optional() })
  .refine((body) => Number('output' in body) + Number('error' in body) === 1, {
    error: 'send either output or error; null is a value',
  });

export function createToolResultRoute(gateway: ToolCallGateway): NexusRoute {
  return defineRoute({
    method: 'POST',
    path: '/v1/threads/{threadId}/tool-calls/{callId}/output',
    operationId: 'reportToolResult',
    summary: 'Report what came of a tool that the caller ran',
    description:
      '`{ output }` or `{ error }`, any JSON value. The same result again answers the call; another result for a ' +
      'call that has ended is refused and noted in the audit by its digest.',
    tags: ['tool calls'],
    auth: { scopes: ['calls'] },
    body: resultSchema,
    problems: ['call-not-decided', 'call-ended', 'decision-timeout'],
    responses: { 200: { description: 'The call with its result', schema: callSchema } },
    handler: async ({ params, body, principal, annotate }) => {
      annotate({ callId: params.callId });
      const state = await reportCallResult(gateway, { principal, ...params, result: resultOf(body) });
      return { status: 200, body: await callView(principal, state) };
    },
  });
}

function resultOf({ output, error }: z.output<typeof resultSchema>): ReportedResult {
  return output === undefined ? { kind: 'error', value: error ?? null } : { kind: 'output', value: output };
}
