import { z } from 'zod';
import type { TextState } from '../../../domain/call-state';
import type { TextPoint } from '../../../domain/point';
import { idempotencyKeyHeader } from '../../http/idempotency-key';
import { preferHeader, preferenceApplied } from '../../http/prefer';
import type { CallGateway } from '../../temporal';
import { awaitDecision } from '../calls/await-decision';
import { findText } from '../calls/call-access';
import { callLocation } from '../calls/call-location';
import { giveUpText } from '../calls/give-up';
import { judgeText } from '../calls/judge-text';
import { defineRoute, type NexusRoute } from '../define-route';
import { endOf } from '../end-of-request';
import { jsonValue, VALUE_BODY_LIMIT } from '../json-value-schema';
import type { NexusPrincipal } from '../nexus-principal';
import { THREAD_READERS } from '../profile-access';
import { textSchema, textView, unstoredTextView, type TextView } from '../views/text';

const tags = ['texts'];
const LOCATION = 'Where the text is found';

const answers = {
  200: { description: 'The text, judged', schema: textSchema, headers: { Location: LOCATION } },
  202: { description: 'The text waits for an answer', schema: textSchema, headers: { Location: LOCATION } },
} as const;

/** The two text points, for callers that run their own model. */
const PLACES = [
  {
    point: 'before_input',
    path: 'inputs',
    name: 'Input',
    what: "a user's text may reach the model",
    hooks: '`before_input`',
  },
  {
    point: 'after_output',
    path: 'outputs',
    name: 'Output',
    what: "a model's text may reach the user",
    hooks: '`after_output`',
  },
] as const satisfies readonly { point: TextPoint; path: string; name: string; what: string; hooks: string }[];

type Place = (typeof PLACES)[number];

export function createTextRoutes(gateway: CallGateway): NexusRoute[] {
  return PLACES.flatMap((place) => [judge(place, gateway), read(place, gateway), cancel(place, gateway)]);
}

const judge = ({ point, path, name, what, hooks }: Place, gateway: CallGateway) =>
  defineRoute({
    method: 'POST',
    path: `/v1/threads/{threadId}/${path}`,
    operationId: `judge${name}`,
    summary: `Ask whether ${what}`,
    description:
      `Runs the hooks of ${hooks}. Until they have let the text through it is shown to nobody but who judges it; a ` +
      'text that is denied or rewritten is deleted. A denial is a result: 200 with `status: "denied"`.',
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
    problems: ['thread-closed', 'idempotency-key-reused', 'decision-timeout'],
    responses: answers,
    handler: async ({ params, headers, body, principal, request, annotate }) => {
      const { text, actor } = body;
      const state = await judgeText(gateway, {
        principal,
        threadId: params.threadId,
        idempotencyKey: headers['Idempotency-Key'],
        request: { point, text, ...(actor !== undefined && { actor }) },
      });
      annotate({ callId: state.call.id });
      const { waitSeconds } = headers.Prefer;
      const patience = { seconds: waitSeconds ?? 0, signal: endOf(request) };
      return reply(principal, await awaitDecision(principal.store, state, patience), waitSeconds);
    },
  });

const read = ({ point, path, name, what }: Place, gateway: CallGateway) =>
  defineRoute({
    method: 'GET',
    path: `/v1/threads/{threadId}/${path}/{textId}`,
    operationId: `read${name}`,
    summary: `Read, or wait for, the answer whether ${what}`,
    tags,
    auth: { scopes: THREAD_READERS },
    headers: z.object({ Prefer: preferHeader }),
    responses: answers,
    handler: async ({ params, headers, principal, request, annotate }) => {
      const { threadId, textId } = params;
      annotate({ callId: textId });
      const found = await findText(principal, gateway, { threadId, textId, point });
      if (found.kind === 'unstored') return parked(unstoredTextView(textId, found.memo));
      const { waitSeconds } = headers.Prefer;
      const patience = { seconds: waitSeconds ?? 0, signal: endOf(request) };
      return reply(principal, await awaitDecision(principal.store, found.state, patience), waitSeconds);
    },
  });

const cancel = ({ point, path, name }: Place, gateway: CallGateway) =>
  defineRoute({
    method: 'DELETE',
    path: `/v1/threads/{threadId}/${path}/{textId}`,
    operationId: `cancel${name}`,
    summary: 'Give a text up',
    description: 'Clears its wait and deletes it.',
    tags,
    auth: { scopes: ['calls'] },
    problems: ['call-ended'],
    responses: { 200: { description: 'The text, cancelled', schema: textSchema } },
    handler: async ({ params, principal, annotate }) => {
      const { threadId, textId } = params;
      annotate({ callId: textId });
      const state = await giveUpText(gateway, { principal, threadId, textId, point });
      return { status: 200, body: await textView(principal, state) };
    },
  });

async function reply(principal: NexusPrincipal, state: TextState, waited: number | undefined) {
  const view = await textView(principal, state);
  const applied = waited === undefined ? {} : { 'Preference-Applied': preferenceApplied({ wait: waited }) };
  const headers = { Location: callLocation(view.threadId, view.id), ...applied };
  return view.status === 'waiting' ? parked(view, applied) : ({ status: 200, body: view, headers } as const);
}

function parked(view: TextView, headers: Readonly<Record<string, string>> = {}) {
  const Location = callLocation(view.threadId, view.id);
  return { status: 202, body: view, headers: { ...headers, Location } } as const;
}
