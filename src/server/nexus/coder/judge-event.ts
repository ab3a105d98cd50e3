import { setTimeout as sleep } from 'node:timers/promises';
import type { CoderEvent } from '../../../coder/event';
import type { JsonObject } from '../../../domain/json-value';
import { threadOfChat, type Dispatch } from './dispatch-context';
import { userPromptSubmit } from './prompt-events';
import { postToolUse, preToolUse, type ToolEvents } from './tool-events';
import { NO_OPINION, refused, type Verdict } from './verdict';

/** What an event becomes here, and what it is answered. */
export async function judgeEvent(
  events: ToolEvents,
  dispatch: Dispatch,
  event: CoderEvent,
): Promise<Verdict> {
  const threadId = threadOfChat(dispatch.store.tenant, event.meta.chatId);
  const problem = await ensureThread(dispatch, event, threadId);
  if (problem !== undefined) return refused(problem.code, problem.text);
  switch (event.type) {
    case 'session_start':
      return sessionStart(dispatch, threadId);
    case 'user_prompt_submit':
      return userPromptSubmit(events, dispatch, event);
    case 'pre_tool_use':
      return preToolUse(events, dispatch, event);
    case 'post_tool_use':
      return inTime(dispatch, postToolUse(events, dispatch, event), threadId);
    case 'pre_compact':
    case 'post_compact':
    case 'stop':
      return { ...NO_OPINION, audit: { decision: 'none', threadId } };
  }
}

/** A chat is a thread, also one whose beginning was not told. */
async function ensureThread(
  { store, principal, relay }: Dispatch,
  { meta }: CoderEvent,
  threadId: string,
): Promise<{ code: string; text: string } | undefined> {
  if ((await store.threads.read(threadId)) !== undefined) return undefined;
  const { roleProfiles } = await store.settings.read();
  const profileId = Object.hasOwn(roleProfiles, relay.role) ? roleProfiles[relay.role] : undefined;
  if (profileId === undefined) return noProfile(relay.role);
  const thread = {
    id: threadId,
    profileId,
    owner: principal.key.owner,
    metadata: { coder: metadataOf(meta, relay) },
    createdAt: new Date().toISOString(),
  };
  return (await store.threads.ensure(thread)) === 'no_profile' ? noProfile(relay.role) : undefined;
}

function noProfile(role: string): { code: string; text: string } {
  return {
    code: 'no_profile',
    text: `Nothing is allowed: the tenant has no profile for the role ${role}. Name one in the setting roleProfiles.`,
  };
}

function metadataOf(meta: CoderEvent['meta'], relay: Dispatch['relay']): JsonObject {
  const { chatId, workspaceId, parentChatId, rootChatId } = meta;
  return {
    chatId,
    role: relay.role,
    ...(relay.ticket !== undefined && { ticket: relay.ticket }),
    ...(workspaceId !== undefined && { workspaceId }),
    ...(parentChatId !== undefined && { parentChatId }),
    ...(rootChatId !== undefined && { rootChatId }),
  };
}

/** The assignment first, then what the profile has to say; what is too long is cut at its end. */
async function sessionStart({ store, relay }: Dispatch, threadId: string): Promise<Verdict> {
  const snapshot = await store.threads.read(threadId);
  const profile = snapshot && (await store.profiles.readLast(snapshot.thread.profileId));
  const ticket = relay.ticket === undefined ? '' : ` of ticket ${relay.ticket}`;
  const parts = [`You work in the role ${relay.role}${ticket}.`, profile?.configuration.instructions];
  const model_context = parts.filter((part) => part !== undefined).join('\n\n');
  return { answer: { model_context }, audit: { decision: 'none', threadId } };
}

/** The work goes on when the sender's time is over. */
async function inTime({ relay }: Dispatch, work: Promise<Verdict>, threadId: string): Promise<Verdict> {
  const over = new AbortController();
  const late = sleep(Math.max(0, relay.deadline - Date.now() - 100), undefined, { signal: over.signal }).then(
    (): Verdict => ({ answer: {}, audit: { decision: 'pending', threadId } }),
  );
  late.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
    work.catch(() => undefined);
  }
}
