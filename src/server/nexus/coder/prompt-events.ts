import { readFaithful, rawDataMember } from '../../../coder/tool-input';
import type { CoderEvent } from '../../../coder/event';
import { textState, type TextState } from '../../../domain/call-state';
import { canonicalJson, sha256Hex } from '../../../domain/digest';
import { HttpProblem } from '../../http/problem';
import { awaitDecision } from '../calls/await-decision';
import { judgeText } from '../calls/judge-text';
import { timeLeft, threadOfChat, type Dispatch } from './dispatch-context';
import type { ToolEvents } from './tool-events';
import { denied, pending, refused, waitPlace, type Verdict } from './verdict';

const AGAIN = 'Send exactly the same prompt again later to get the decision.';

/**
 * A prompt is about to be sent. Equal prompts may be two, so each dispatch is judged anew; only one that was answered as
 * pending is found again by the same prompt, and its decision is handed out once.
 */
export async function userPromptSubmit(
  { making, publicUrl }: ToolEvents,
  dispatch: Dispatch,
  { meta, data }: Extract<CoderEvent, { type: 'user_prompt_submit' }>,
): Promise<Verdict> {
  const { store, principal, relay } = dispatch;
  const threadId = threadOfChat(store.tenant, meta.chatId);
  const reading = readFaithful(rawDataMember(dispatch.text, 'prompt') ?? '""');
  if (!reading.ok) return refused('prompt', `The prompt cannot be judged: ${reading.problem}.`, { threadId });
  const identity = sha256Hex(canonicalJson([threadId, data.prompt, relay.workspace ?? '']));
  const left = timeLeft(relay);
  try {
    const parked = await store.dispatches.findPrompt(identity);
    const known = parked === undefined ? undefined : await store.calls.read(parked);
    const first =
      known === undefined
        ? await judgeText(making.gateway, {
            principal,
            threadId,
            request: { point: 'before_input', text: data.prompt },
            idempotencyKey: meta.dispatchId,
          })
        : textState(known.state);
    const state = await awaitDecision(store, first, {
      seconds: left / 1_000,
      signal: AbortSignal.timeout(Math.max(1, left)),
    });
    if (state.call.status === 'waiting') {
      await store.dispatches.parkPrompt(identity, state.call.id);
      return pending({ ...waitPlace(state, publicUrl), again: AGAIN }, { threadId, callId: state.call.id });
    }
    if (known !== undefined && !(await store.dispatches.takePrompt(identity))) {
      return refused('handed_out', 'The decision was given to the same prompt before; send it once more.', {
        threadId,
      });
    }
    return await promptVerdict(dispatch, state, data.prompt);
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
    return refused('not_judged', `The prompt cannot be judged now: ${error.message}.`, { threadId });
  }
}

async function promptVerdict({ store }: Dispatch, { call }: TextState, prompt: string): Promise<Verdict> {
  const audit = { threadId: call.threadId, callId: call.id };
  if (call.denial !== undefined) return denied(call.denial, audit);
  if (call.text === undefined) return refused('text_ended', `The prompt is ${call.status}.`, audit);
  const text = await store.blobs.valueOf(call.id, call.text);
  if (text === prompt || typeof text !== 'string')
    return { answer: {}, audit: { ...audit, decision: 'allow' } };
  return {
    answer: { permission: { decision: 'allow', input_override: { prompt: text } } },
    audit: { ...audit, decision: 'allow', rewrote: true },
  };
}
