import { z } from 'zod';
import { idempotencyKeyHeader } from '../../http/idempotency-key';
import { VALUE_BODY_LIMIT } from '../json-value-schema';
import { defineRoute, type NexusRoute } from '../define-route';
import { resolutionSchema, resolutionView } from '../views/resolution';
import type { LateAnswers } from '../waits/late-answer';

export function createDeliveryRoute(answers: LateAnswers): NexusRoute {
  return defineRoute({
    method: 'POST',
    path: '/v1/deliveries/{deliveryId}',
    operationId: 'answerDelivery',
    summary: 'Answer a delivery that was promised an answer (202)',
    description:
      'For hooks. The body is a HookResult. The sender proves itself by the callback token of the delivery as bearer, ' +
      "or by Standard Webhooks headers that are signed with the hook's own secret and name the delivery. An answer may " +
      'come before the 202 was read.',
    tags: ['deliveries'],
    auth: 'none',
    headers: z.object({ 'Idempotency-Key': idempotencyKeyHeader.optional() }),
    bodyLimit: VALUE_BODY_LIMIT,
    body: {
      raw: true,
      contentType: 'application/json',
      description: 'A HookResult: `{ decision, reason?, updatedInput? | updatedOutput? }`',
    },
    problems: [
      'malformed-body',
      'unfaithful-json',
      'validation',
      'not-found',
      'delivery-closed',
      'wait-resolved',
      'wait-expired',
      'wait-cancelled',
      'decision-timeout',
    ],
    responses: {
      200: { description: 'The answer counted', schema: resolutionSchema },
      202: {
        description: 'The answer is kept until the 202 of the hook has been read',
        schema: z.strictObject({ status: z.literal('kept'), deliveryId: z.string() }),
      },
    },
    handler: async ({ params: { deliveryId }, headers, body, request }) => {
      const taken = await answers.take({
        deliveryId,
        body,
        token: bearerOf(request.header('authorization')),
        signed: {
          id: request.header('webhook-id'),
          timestamp: request.header('webhook-timestamp'),
          signature: request.header('webhook-signature'),
        },
        idempotencyKey: headers['Idempotency-Key'],
      });
      return taken.kind === 'kept'
        ? ({ status: 202, body: { status: 'kept', deliveryId } } as const)
        : ({ status: 200, body: resolutionView(taken.waitId, taken.result) } as const);
    },
  });
}

function bearerOf(header: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];
}
