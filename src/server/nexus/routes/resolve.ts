import { z } from 'zod';
import { idempotencyKeyHeader } from '../../http/idempotency-key';
import { HttpProblem } from '../../http/problem';
import { defineRoute, type NexusRoute } from '../define-route';
import type { NexusPrincipal } from '../nexus-principal';
import { answering } from '../outage';
import { resolutionSchema, resolutionView } from '../views/resolution';
import type { WaitResolver } from '../waits/resolve-wait';
import { jsonValue, VALUE_BODY_LIMIT } from '../json-value-schema';

const tags = ['waits'];

const answerShape = {
  decision: z.enum(['allow', 'deny', 'defer']).meta({
    description: 'defer: no opinion; the next hook is asked.',
  }),
  reason: z.string().optional().meta({ description: 'At most 4 KiB; reaches the caller.' }),
  updatedInput: jsonValue.optional().meta({ description: 'The whole new input; null is a value.' }),
  updatedOutput: jsonValue.optional(),
  updatedText: z.string().optional(),
  subjectDigest: z.string().optional().meta({ description: 'Digest of the value that was judged.' }),
};

const problems = [
  'own-call',
  'not-an-approver',
  'wait-resolved',
  'digest-mismatch',
  'wait-expired',
  'wait-cancelled',
  'digest-required',
  'defer-skips-quorum',
  'idempotency-key-reused',
  'decision-timeout',
] as const;

export function createResolveRoutes(resolver: WaitResolver): NexusRoute[] {
  return [resolveOne(resolver), resolveMany(resolver)];
}

const resolveOne = (resolver: WaitResolver) =>
  defineRoute({
    method: 'POST',
    path: '/v1/threads/{threadId}/waits/{waitId}/resolve',
    operationId: 'resolveWait',
    summary: 'Answer a wait',
    description:
      'Who answers is the owner of the key. Only the clock of the workflow decides whether an answer came in time. ' +
      'With an Idempotency-Key a repeat gets its own first answer.',
    tags,
    auth: { scopes: ['waits:resolve'] },
    headers: z.object({ 'Idempotency-Key': idempotencyKeyHeader.optional() }),
    bodyLimit: VALUE_BODY_LIMIT,
    body: z.strictObject(answerShape),
    problems: [...problems],
    responses: { 200: { description: 'The answer counted', schema: resolutionSchema } },
    handler: async ({ params, headers, body, principal }) => {
      const { subjectDigest, ...hookResult } = body;
      const result = await resolver.resolve(principal, {
        ...params,
        hookResult,
        subjectDigest,
        idempotencyKey: headers['Idempotency-Key'],
      });
      return { status: 200, body: resolutionView(params.waitId, result) };
    },
  });

const MAX_ANSWERS = 100;

const resolveMany = (resolver: WaitResolver) =>
  defineRoute({
    method: 'POST',
    path: '/v1/waits/resolve',
    operationId: 'resolveWaits',
    summary: 'Answer several waits, each on its own',
    tags,
    auth: { scopes: ['waits:resolve'] },
    body: z.strictObject({
      answers: z
        .array(
          z.strictObject({
            threadId: z.string(),
            waitId: z.string(),
            idempotencyKey: idempotencyKeyHeader.optional(),
            ...answerShape,
          }),
        )
        .min(1)
        .max(MAX_ANSWERS),
    }),
    responses: {
      200: {
        description: 'One entry per answer, in order: its resolution, or the problem that refused it',
        schema: z.strictObject({
          items: z.array(
            z.strictObject({
              waitId: z.string(),
              status: z.int().meta({ description: 'What the single request would have answered.' }),
              resolution: resolutionSchema.optional(),
              problem: z.looseObject({ type: z.string(), status: z.int() }).optional(),
            }),
          ),
        }),
      },
    },
    handler: async ({ body, principal, request }) => {
      const items = await Promise.all(
        body.answers.map((answer) => resolveEntry(resolver, { principal, answer, requestId: request.id })),
      );
      return { status: 200, body: { items } };
    },
  });

async function resolveEntry(
  resolver: WaitResolver,
  {
    principal,
    answer,
    requestId,
  }: {
    principal: NexusPrincipal;
    answer: {
      threadId: string;
      waitId: string;
      idempotencyKey?: string | undefined;
      subjectDigest?: string | undefined;
    };
    requestId: string;
  },
) {
  const { threadId, waitId, idempotencyKey, subjectDigest, ...hookResult } = answer;
  try {
    const result = await answering(() =>
      resolver.resolve(principal, { threadId, waitId, hookResult, subjectDigest, idempotencyKey }),
    );
    return { waitId, status: 200, resolution: resolutionView(waitId, result) };
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
    const problem = error.toDocument(requestId) as { type: string; status: number };
    return { waitId, status: error.status, problem };
  }
}
