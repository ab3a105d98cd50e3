import { readFaithful, rawDataMember } from '../../../coder/tool-input';
import type { CoderEvent } from '../../../coder/event';
import { subjectDigest, sha256Hex } from '../../../domain/digest';
import type { JsonValue } from '../../../domain/json-value';
import { toolNameFault } from '../../../domain/tool-pattern';
import { HttpProblem } from '../../http/problem';
import { undecidedCallOf } from '../calls/not-decided';
import {
  indexPendingLater,
  makeCallInTime,
  type MadeInTime,
  type TimedCallMaking,
} from '../calls/pending-call';
import { reportCallResult } from '../calls/report-result';
import { callView } from '../views/call';
import { timeLeft, threadOfChat, type Dispatch } from './dispatch-context';
import { denied, NO_OPINION, pending, refused, waitPlace, type Verdict } from './verdict';

export interface ToolEvents {
  readonly making: TimedCallMaking;
  /** Where people reach Nexus. */
  readonly publicUrl?: string;
}

const AGAIN = 'Make exactly the same call again later to get the decision.';

/** A tool is about to run: a durable call is made of it, which the caller executes. */
export async function preToolUse(
  { making, publicUrl }: ToolEvents,
  dispatch: Dispatch,
  { meta, data }: Extract<CoderEvent, { type: 'pre_tool_use' }>,
): Promise<Verdict> {
  const { store, principal, relay } = dispatch;
  const { tool_use_id: toolUseId, tool_name: tool } = data;
  const threadId = threadOfChat(store.tenant, meta.chatId);
  const raw = rawDataMember(dispatch.text, 'tool_input') ?? 'null';
  const audit = { threadId, tool: tool.slice(0, 256) };
  const nameFault = toolNameFault(tool);
  if (nameFault !== undefined)
    return refused('tool_name', `The call cannot be judged: ${nameFault}.`, { threadId });
  const reading = readFaithful(raw);
  if (!reading.ok) {
    return refused('tool_input', `The call cannot be judged: in its input ${reading.problem}.`, audit);
  }
  const make = {
    principal,
    threadId,
    // The same event again, under whatever dispatch, is the same call; another input under the id is another call.
    idempotencyKey: sha256Hex(JSON.stringify([meta.chatId, toolUseId, sha256Hex(raw)])),
    request: { tool, input: reading.value, execution: 'caller' as const, toolUseId: toolUseId.slice(0, 256) },
  };
  const left = timeLeft(relay);
  const workspace = relay.workspace ?? '';
  const signal = AbortSignal.timeout(Math.max(1, left));
  try {
    const made = await makeCallInTime(making, make, {
      patience: { seconds: left / 1_000, signal, firstOutcomeMs: Math.max(1, left) },
      workspace,
    });
    return await toolVerdict(dispatch, made, { input: reading.value, tool, publicUrl });
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
    const callId = undecidedCallOf(error);
    if (callId === undefined)
      return refused('not_judged', `The call cannot be judged now: ${error.message}.`, audit);
    // It goes on, and must be found by the same call under another id.
    indexPendingLater(making, make, { callId, workspace });
    return pending({ what: 'its hooks', where: undefined, again: AGAIN }, { ...audit, callId });
  }
}

async function toolVerdict(
  { principal }: Dispatch,
  { kind, state }: MadeInTime,
  { input, tool, publicUrl }: { input: JsonValue; tool: string; publicUrl: string | undefined },
): Promise<Verdict> {
  const { call } = state;
  const audit = { threadId: call.threadId, callId: call.id, tool };
  if (kind === 'pending') return pending({ ...waitPlace(state, publicUrl), again: AGAIN }, audit);
  if (call.denial !== undefined) return denied(call.denial, audit);
  if (call.status !== 'allowed') {
    return refused('call_ended', `The call is ${call.status}; a new one needs another tool_use_id.`, audit);
  }
  const asked = subjectDigest({ point: 'before_tool_call', tool, value: input });
  if (call.input.digest === asked) return { answer: {}, audit: { ...audit, decision: 'allow' } };
  const view = await callView(principal, state);
  // The view of an allowed call has the approved input, which is JSON.
  const approved = view.input as JsonValue;
  if (approved === null)
    return refused('rewrite_null', 'The approved input is null, which cannot be passed on.', audit);
  return {
    answer: { permission: { decision: 'allow', input_override: approved } },
    audit: { ...audit, decision: 'allow', rewrote: true },
  };
}

/** A tool has run. What its hooks make of the output can reach the model as context only. */
export async function postToolUse(
  { making }: ToolEvents,
  { store, principal, text }: Dispatch,
  { meta, data }: Extract<CoderEvent, { type: 'post_tool_use' }>,
): Promise<Verdict> {
  const { tool_use_id: toolUseId, tool_name: tool } = data;
  const threadId = threadOfChat(store.tenant, meta.chatId);
  const callId = await store.calls.findByToolUse(threadId, toolUseId.slice(0, 256));
  const audit = { threadId, tool: tool.slice(0, 256) };
  if (callId === undefined) {
    return { answer: {}, audit: { ...audit, decision: 'none', reason: { code: 'no_call' } } };
  }
  const result =
    data.tool_error !== undefined && data.tool_error !== ''
      ? ({ kind: 'error', value: resultValue(text, 'tool_error') } as const)
      : ({ kind: 'output', value: resultValue(text, 'tool_response') } as const);
  const about = { ...audit, callId };
  try {
    const state = await reportCallResult(making.gateway, { principal, threadId, callId, result });
    const { call } = state;
    if (call.denial !== undefined && call.denial.by !== 'cancelled') {
      const why = call.denial.reason.text ?? call.denial.reason.code;
      const model_context = `The output of ${tool} must not be used: ${why}`;
      return { answer: { model_context }, audit: { ...about, decision: 'deny', reason: call.denial.reason } };
    }
    const kept = call.output ?? call.error;
    if (kept === undefined || kept.digest === call.reportedDigest)
      return { answer: {}, audit: { ...about, decision: 'none' } };
    const value = await store.blobs.valueOf(call.id, kept);
    const model_context = `In the place of the output of ${tool} use this: ${JSON.stringify(value)}`;
    return { answer: { model_context }, audit: { ...about, decision: 'allow', rewrote: true } };
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
    return { ...NO_OPINION, audit: { ...about, decision: 'none', reason: { code: error.code } } };
  }
}

/** What cannot be kept as it is, is noted by its digest. */
function resultValue(text: string, name: string): JsonValue {
  const raw = rawDataMember(text, name) ?? 'null';
  const reading = readFaithful(raw);
  return reading.ok ? reading.value : { unfaithful: reading.problem, sha256: sha256Hex(raw.toWellFormed()) };
}
