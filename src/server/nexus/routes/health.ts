import { z } from 'zod';
import { HttpProblem } from '../../http/problem';
import { defineRoute, type NexusRoute } from '../define-route';

/** Something that the service cannot work without. The name is shown to anyone: no address, no secret. */
export interface ReadinessCheck {
  readonly name: string;
  /** Rejects when it is not there. */
  readonly check: () => Promise<void>;
}

/** A check that has not answered by then has failed. */
const CHECK_MS = 2_000;

export function createHealthRoutes({ checks }: { checks: readonly ReadinessCheck[] }): NexusRoute[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/healthz',
      operationId: 'readHealth',
      summary: 'Whether the process lives',
      tags: ['service'],
      auth: 'none',
      responses: { 200: { description: 'It does', schema: z.strictObject({ status: z.literal('ok') }) } },
      handler: () => ({ status: 200, body: { status: 'ok' as const } }),
    }),
    defineRoute({
      method: 'GET',
      path: '/readyz',
      operationId: 'readReadiness',
      summary: 'Whether requests can be served',
      description: 'Asks every store and Temporal. Otherwise 503, with the names of what failed in `failed`.',
      tags: ['service'],
      auth: 'none',
      problems: ['unavailable'],
      responses: {
        200: {
          description: 'Everything answers',
          schema: z.strictObject({ status: z.literal('ready'), checks: z.array(z.string()) }),
        },
      },
      handler: async ({ request }) => {
        const failed = await failedChecks(checks, (name, err) => request.log.warn({ check: name, err }));
        if (failed.length > 0) throw notReady(failed);
        return { status: 200, body: { status: 'ready' as const, checks: checks.map(({ name }) => name) } };
      },
    }),
  ];
}

function notReady(failed: readonly string[]): HttpProblem {
  return new HttpProblem('unavailable', {
    detail: `not ready: ${failed.join(', ')}`,
    extensions: { failed },
    headers: { 'Retry-After': '2' },
  });
}

async function failedChecks(
  checks: readonly ReadinessCheck[],
  onFailure: (name: string, error: unknown) => void,
): Promise<string[]> {
  const results = await Promise.allSettled(checks.map(({ check }) => withinTime(check)));
  return checks.flatMap(({ name }, index) => {
    const result = results[index];
    if (result?.status === 'fulfilled') return [];
    onFailure(name, result?.reason);
    return [name];
  });
}

async function withinTime(check: () => Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${CHECK_MS} ms`)), CHECK_MS);
  });
  try {
    await Promise.race([check(), late]);
  } finally {
    clearTimeout(timer);
  }
}
