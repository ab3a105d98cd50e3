import { callFacts } from '../../../domain/call-facts';
import type { JsonValue } from '../../../domain/json-value';
import { hooksAt } from '../../../domain/hook';
import { hookMatches } from '../../../domain/matching';
import { pinProfile, type PinnedProfile, type Profile } from '../../../domain/profile';
import type { TenantSettings } from '../../../domain/settings';
import type { Subject } from '../../../domain/subject';
import type { CallStart, ToolCallStart } from '../../../domain/call';
import { keepSubject } from '../../../store/keep-subject';
import type { TenantStore } from '../../../store/tenant-store';
import type { ThreadRecord } from '../../../store/threads';
import type { Toolbox } from '../../../tools/toolbox';
import type { NexusPrincipal } from '../nexus-principal';
import type { CallRequest } from './call-request';
import { runnableTool } from './runnable-tool';

export interface PreparedStart<Start extends CallStart = ToolCallStart> {
  readonly start: Start;
  /** As they were when it was prepared. */
  readonly settings: TenantSettings;
}

/** What a call will need besides its thread, asked for at the same time. */
export interface ReadAhead {
  readonly settings: Promise<TenantSettings>;
  /** Of the profile that the thread is known to have, if it is known. */
  readonly profile?: { readonly id: string; readonly last: Promise<Profile | undefined> };
}

export function readAhead({ settings, profiles, threads }: TenantStore, threadId: string): ReadAhead {
  const id = threads.recallProfileId(threadId);
  const ahead: ReadAhead = {
    settings: settings.read(),
    ...(id !== undefined && { profile: { id, last: profiles.readLast(id) } }),
  };
  // They are of no interest when the thread is refused.
  ahead.settings.catch(() => undefined);
  ahead.profile?.last.catch(() => undefined);
  return ahead;
}

/** Everything that the workflow of a new call decides on, as it holds now. */
export async function prepareStart(
  { store, tenant, key }: NexusPrincipal,
  request: CallRequest,
  at: { thread: ThreadRecord; callId: string; digest: string; ahead: ReadAhead; toolbox: Toolbox },
): Promise<PreparedStart> {
  const { thread, callId, digest, ahead, toolbox } = at;
  const { profile, settings } = await resolved(store, thread, ahead);
  const { toolUseId, actor, execution } = request;
  const running =
    execution === 'server' ? await runnableTool(toolbox, { tenant, profile }, request) : undefined;
  const pinned = pinProfile(profile, request.tool, running);
  const start = {
    ...startBase({ tenant, key, settings }, { callId, threadId: thread.id, digest, actor }),
    profile: pinned,
    tool: request.tool,
    ...(toolUseId !== undefined && { toolUseId }),
    execution,
  };
  const subject = await keepSubject(
    store,
    { callId, profile: pinned, point: 'before_tool_call', facts: callFacts(start, thread.metadata) },
    { kind: 'input', value: request.input },
    (inputDigest) => `input-${inputDigest}`,
  );
  return { start: { ...start, subject, storedAsAllowed: needsNobody(pinned, subject) }, settings };
}

/** The profile and the settings that hold for a new call of the thread. */
export async function resolved(
  { profiles }: TenantStore,
  thread: ThreadRecord,
  ahead: ReadAhead,
): Promise<{ profile: Profile; settings: TenantSettings }> {
  const known = ahead.profile?.id === thread.profileId ? ahead.profile.last : undefined;
  const [profile, settings] = await Promise.all([
    known ?? profiles.readLast(thread.profileId),
    ahead.settings,
  ]);
  if (profile === undefined)
    throw new Error(`thread ${thread.id} has the unknown profile ${thread.profileId}`);
  return { profile, settings };
}

/** What the starts of all kinds of calls have alike. */
export function startBase(
  { tenant, key, settings }: Pick<NexusPrincipal, 'tenant' | 'key'> & { settings: TenantSettings },
  request: { callId: string; threadId: string; digest: string; actor: JsonValue | undefined },
) {
  const { callId, threadId, digest, actor } = request;
  return {
    tenant,
    callId,
    threadId,
    requestDigest: digest,
    requestedBy: { owner: key.owner, keyId: key.id },
    ...(actor !== undefined && { actor }),
    operatorSignal: settings.operatorSignal,
    ...(settings.defaultApprovers !== undefined && { defaultApprovers: settings.defaultApprovers }),
    createdAt: new Date().toISOString(),
  };
}

/** Nothing in the profile has a say about this call, not even one that only looks on. */
function needsNobody(profile: PinnedProfile, subject: Subject): boolean {
  return (
    profile.unmatchedTools === undefined &&
    subject.matching?.permission === undefined &&
    !hooksAt(profile.hooks, 'before_tool_call').some((placed) => hookMatches(subject, placed))
  );
}
