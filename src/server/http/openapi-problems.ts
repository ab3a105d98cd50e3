import type { ResponseConfig } from '@asteasolutions/zod-to-openapi';
import { PROBLEM_MEDIA_TYPE } from './problem';
import { problemSchema } from './problem-schema';
import { PROBLEM_TYPES, type ProblemCode } from './problem-types';
import type { Route } from './route';

const EVERYWHERE: readonly ProblemCode[] = [
  'malformed-request',
  'invalid-parameters',
  'internal',
  'unavailable',
  'decision-timeout',
];
const WITH_KEY: readonly ProblemCode[] = ['unauthenticated', 'forbidden', 'rate-limited'];
const WITH_BODY: readonly ProblemCode[] = [
  'malformed-body',
  'body-required',
  'content-too-large',
  'unsupported-media-type',
  'validation',
  'unfaithful-json',
];

/** The problem answers of a route, by status. What every route can meet is added here, not in its declaration. */
export function problemResponses<P, S extends string>(route: Route<P, S>): Record<number, ResponseConfig> {
  const codes = new Set<ProblemCode>([
    ...EVERYWHERE,
    ...(route.auth === 'none' ? [] : WITH_KEY),
    ...(route.path.includes('{') ? (['not-found'] as const) : []),
    ...(route.method === 'GET' ? [] : WITH_BODY),
    ...(route.problems ?? []),
  ]);
  const byStatus: Record<number, ProblemCode[]> = {};
  for (const code of codes) (byStatus[PROBLEM_TYPES[code].status] ??= []).push(code);
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, here]) => [
      status,
      {
        description: here.map((code) => `\`${code}\`: ${PROBLEM_TYPES[code].when}`).join('\n\n'),
        content: { [PROBLEM_MEDIA_TYPE]: { schema: problemSchema } },
      },
    ]),
  );
}
