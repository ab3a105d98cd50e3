import { isToolCall, type ToolCallRecord } from '../../domain/call';
import type { JsonValue } from '../../domain/json-value';
import { inputIdOf, outputIdOf, type AskedTool } from '../../domain/turn';
import type { Message, ToolExchange } from '../../model/prompt';
import type { TenantStore } from '../../store/tenant-store';

/** Earlier turns of a thread that a model is told; what is older is left out. */
const MOST_TURNS = 50;

/** What stands for a text that was not let through. */
const WITHHELD = '[withheld]';

/**
 * What the model is told of its thread: the turns before this one, and this one so far. Only what was let through is
 * part of it, in the form in which it was: an input or an output that is withheld is nowhere in it.
 */
export async function conversationOf(
  store: TenantStore,
  threadId: string,
  turnId: string,
): Promise<Message[]> {
  const messages: Message[] = [];
  for (const earlier of await earlierTurns(store, threadId, turnId)) {
    const input = await textOf(store, inputIdOf(earlier));
    if (input === undefined) continue;
    messages.push({ role: 'user', text: input });
    messages.push(...(await exchanges(store, earlier)));
    const output = await textOf(store, outputIdOf(earlier));
    messages.push({ role: 'assistant', text: output ?? WITHHELD });
  }
  messages.push({ role: 'user', text: (await textOf(store, inputIdOf(turnId))) ?? WITHHELD });
  messages.push(...(await exchanges(store, turnId)));
  return messages;
}

async function earlierTurns(store: TenantStore, threadId: string, turnId: string): Promise<string[]> {
  const turns: string[] = [];
  for (let after: string | undefined; ;) {
    const page = await store.turns.list(threadId, { limit: 200, ...(after !== undefined && { after }) });
    turns.push(...page.items);
    after = page.next;
    if (after === undefined) break;
  }
  return turns.slice(0, turns.indexOf(turnId)).slice(-MOST_TURNS);
}

/** The steps of a turn in which the model asked for tools, with what came of each, in the model's order. */
async function exchanges(store: TenantStore, turnId: string): Promise<Message[]> {
  const steps = await store.turns.readSteps(turnId);
  const messages = await Promise.all(
    steps.map(async ({ step, said }, number): Promise<Message[]> => {
      if (step.tools.length === 0) return [];
      const calls = await Promise.all(
        step.tools.map((asked, index) => exchange(store, asked, `call_${number}_${index}`)),
      );
      return [{ role: 'tools', ...(said !== undefined && { said }), calls }];
    }),
  );
  return messages.flat();
}

/** The model's own ids may repeat, so calls are told apart by their place. */
async function exchange(store: TenantStore, asked: AskedTool, place: string): Promise<ToolExchange> {
  const { tool, input, callId, fault } = asked;
  const result =
    callId === undefined
      ? { status: 'failed', error: fault ?? 'the call could not be made', executed: false }
      : await resultOf(store, callId);
  return { id: place, tool, input, result };
}

async function resultOf(store: TenantStore, callId: string): Promise<JsonValue> {
  const call = (await store.calls.read(callId))?.state.call;
  if (call === undefined || !isToolCall(call)) {
    return { status: 'failed', error: 'nothing is known of this call', executed: 'unknown' };
  }
  return toldResult(store, call);
}

/** A denial is told as a denial, and says whether the tool has run. */
async function toldResult(store: TenantStore, call: ToolCallRecord): Promise<JsonValue> {
  const { status, denial, output, error } = call;
  if (status === 'completed' && output !== undefined)
    return { status, output: await store.blobs.valueOf(call.id, output) };
  if (status === 'failed' && error !== undefined)
    return { status, error: await store.blobs.valueOf(call.id, error) };
  if (denial !== undefined) {
    const { by, reason, executed } = denial;
    return { status, by, reason: { ...reason }, executed };
  }
  return { status: 'failed', error: `the call is ${status}`, executed: 'unknown' };
}

async function textOf(store: TenantStore, textId: string): Promise<string | undefined> {
  const call = (await store.calls.read(textId))?.state.call;
  if (call === undefined || isToolCall(call) || call.text === undefined) return undefined;
  const value = await store.blobs.valueOf(textId, call.text);
  return typeof value === 'string' ? value : undefined;
}
