import { requestDigest, textRequestDigest, type TextStart, type ToolCallStart } from '../../domain/call';
import { callFacts } from '../../domain/call-facts';
import { inputFault } from '../../domain/input-schema';
import type { JsonValue } from '../../domain/json-value';
import { pinForText, pinProfile } from '../../domain/profile';
import type { KnownTool } from '../../domain/runnable-tool';
import { outputIdOf, toolCallIdOf, type AskedTool, type ModelStep } from '../../domain/turn';
import type { ModelCaller, ModelFailure, WantedCall } from '../../model/model-caller';
import { keepQuarantined, keepSubject } from '../../store/keep-subject';
import type { TenantStore } from '../../store/tenant-store';
import type { TurnSnapshot } from '../../store/turns';
import type { Toolbox } from '../../tools/toolbox';
import { conversationOf } from './conversation';
import { instructionsOf, verdictSchema } from './reviewing';

/** What the turn does next: runs tools, has the model's text judged, or ends. Never a text of the model. */
export type NextStep =
  | { readonly kind: 'tools'; readonly calls: readonly ToolCallStart[] }
  | { readonly kind: 'answer'; readonly output: TextStart }
  /** The turn has ended in the store, or is gone from it. */
  | { readonly kind: 'ended' };

export interface StepRequest {
  readonly store: TenantStore;
  readonly model: ModelCaller;
  readonly toolbox: Pick<Toolbox, 'list'>;
  readonly turn: TurnSnapshot;
  /** From 0. */
  readonly number: number;
  readonly signal: AbortSignal;
}

/**
 * Asks the model for the next step of a turn and keeps what it said: one thing, so that a step that is asked for again
 * is the one that is kept, with the same calls under the same ids.
 */
export async function nextStep(request: StepRequest): Promise<NextStep | ModelFailure> {
  const { store, turn, number } = request;
  const { record } = turn;
  const kept = (await store.turns.readSteps(record.id))[number];
  if (kept !== undefined) return asNext(request, kept.step, kept.said ?? '');
  const { tools: known } = await request.toolbox.list(turn.start.tenant, turn.profile.configuration);
  const reply = await request.model.call(await modelRequest(request, known));
  if (reply.kind === 'failed') return reply;
  const tools = reply.calls.map((call, index) => askedTool(turn, number, { call, index }, known));
  const made: ModelStep = { at: new Date().toISOString(), tools };
  const step = await store.turns.keepStep(record.id, number, { step: made, said: reply.text });
  if (step === undefined) return { kind: 'ended' };
  const said =
    step.at === made.at ? reply.text : ((await store.turns.readSteps(record.id))[number]?.said ?? '');
  return asNext(request, step, said);
}

async function modelRequest({ store, turn, signal }: StepRequest, known: readonly KnownTool[]) {
  const { record, profile, start } = turn;
  const { model } = profile.configuration;
  const instructions = instructionsOf(turn);
  if (model === undefined) throw new Error('a turn has a model from its beginning');
  return {
    tenant: start.tenant,
    model,
    ...(instructions !== undefined && { instructions }),
    messages: await conversationOf(store, record.threadId, record.id),
    tools: known.map(({ name, description, inputSchema }) => ({
      name,
      ...(description !== undefined && { description }),
      ...(inputSchema !== undefined && { inputSchema }),
    })),
    ...(start.review !== undefined && { json: verdictSchema(start.review.point) }),
    signal,
  };
}

function askedTool(
  { record }: TurnSnapshot,
  number: number,
  { call, index }: { call: WantedCall; index: number },
  tools: readonly KnownTool[],
): AskedTool {
  const { toolUseId, tool, input } = call;
  if (call.fault !== undefined) return { toolUseId, tool, input, fault: call.fault };
  const known = tools.find(({ name }) => name === tool);
  const schema = known?.inputSchema;
  const fault = schema === undefined ? undefined : inputFault(schema, input);
  if (fault !== undefined)
    return { toolUseId, tool, input, fault: `at "${fault.pointer}" the input ${fault.detail}` };
  const callId = toolCallIdOf(record.id, number, index);
  return { toolUseId, tool, input, callId, ...(known !== undefined && { known }) };
}

async function asNext(request: StepRequest, step: ModelStep, said: string): Promise<NextStep> {
  if (step.tools.length === 0) return { kind: 'answer', output: await outputStart(request, step, said) };
  const made = step.tools.map((asked) =>
    asked.callId === undefined ? [] : [{ ...asked, callId: asked.callId }],
  );
  return {
    kind: 'tools',
    calls: await Promise.all(made.flat().map((asked) => toolCallStart(request, step, asked))),
  };
}

async function toolCallStart(
  { store, turn }: StepRequest,
  step: ModelStep,
  { callId, tool, toolUseId, input, known }: AskedTool & { callId: string },
): Promise<ToolCallStart> {
  const runs = known?.runs !== undefined;
  const profile = pinProfile(turn.profile, tool, runs ? known : undefined);
  const execution = runs ? ('server' as const) : ('caller' as const);
  const start = {
    ...(await startBase(store, turn, step)),
    callId,
    profile,
    tool,
    toolUseId,
    execution,
    requestDigest: requestDigest({ tool, input, toolUseId, execution, ...actorOf(turn) }),
  };
  const subject = await keepSubject(
    store,
    { callId, profile, point: 'before_tool_call', facts: callFacts(start, await metadataOf(store, turn)) },
    { kind: 'input', value: input },
    (digest) => `input-${digest}`,
  );
  return { ...start, subject, storedAsAllowed: false };
}

async function outputStart({ store, turn }: StepRequest, step: ModelStep, text: string): Promise<TextStart> {
  const callId = outputIdOf(turn.record.id);
  const point = 'after_output';
  const profile = pinForText(turn.profile, point);
  const start = {
    ...(await startBase(store, turn, step)),
    callId,
    profile,
    point,
    requestDigest: textRequestDigest({ point, text, ...actorOf(turn) }),
  } as const;
  const subject = await keepQuarantined(
    store,
    { callId, profile, point, facts: callFacts(start, await metadataOf(store, turn)) },
    { kind: 'text', value: text },
    'text-answer',
  );
  return { ...start, subject };
}

async function startBase(store: TenantStore, { record, start }: TurnSnapshot, { at }: ModelStep) {
  const { operatorSignal, defaultApprovers } = await store.settings.read();
  return {
    tenant: start.tenant,
    threadId: record.threadId,
    turnId: record.id,
    ...(start.review !== undefined && { insideReview: true as const }),
    requestedBy: record.requestedBy,
    ...(record.actor !== undefined && { actor: record.actor }),
    operatorSignal,
    ...(defaultApprovers !== undefined && { defaultApprovers }),
    createdAt: at,
  };
}

function actorOf({ record }: TurnSnapshot): { actor?: JsonValue } {
  return record.actor === undefined ? {} : { actor: record.actor };
}

async function metadataOf(store: TenantStore, { record }: TurnSnapshot): Promise<JsonValue> {
  return (await store.threads.read(record.threadId))?.thread.metadata ?? {};
}
