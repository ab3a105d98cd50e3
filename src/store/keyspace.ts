import type { TextPoint } from '../domain/point';

/**
 * Names of everything in a tenant's Redis. The braces are the literal hash tag: all keys of a tenant share one slot,
 * so one script may touch several of them on a cluster too.
 */
export interface Keyspace {
  readonly tenant: string;
  /** Hash: json, version, deleted. */
  profile(id: string): string;
  /** Sorted set by name (all scores 0): ids of profiles that are not deleted. */
  readonly profiles: string;
  /** Hash: json, state, seq (last event), callSeq, generation. */
  thread(id: string): string;
  /** Sorted set by name (all scores 0): every thread. Ids are time-ordered. */
  readonly threads: string;
  /** The same for the threads of one owner. */
  threadsOf(owner: string): string;
  /** The same for threads that hold an open wait. */
  readonly threadsWaiting: string;
  /** Stream with ids `<seq>-0`. */
  threadEvents(id: string): string;
  /** Sorted set: calls by their place in the thread. */
  threadCalls(id: string): string;
  /** The same for the texts that were judged at one point. */
  threadTexts(id: string, point: TextPoint): string;
  /** Set: calls that have not ended. */
  threadOpenCalls(id: string): string;
  /** Set: open waits. */
  threadWaits(id: string): string;
  /** Hash: state and n of the last step, start (the workflow's arguments), generation. */
  call(id: string): string;
  callBlob(callId: string, name: string): string;
  /** Sorted set by time: blobs that no step has taken up. */
  readonly blobsUnclaimed: string;
  /** Hash: the last call of a thread by the model's id of it. */
  threadToolUses(id: string): string;
  /** Sorted set by time: calls that were answered `pending`, by what makes requests identical. */
  pendingCalls(identity: string): string;
  /** A HookResult that came before the hook's promise of it was stored. */
  earlyAnswer(deliveryId: string): string;
  /** The key behind callback tokens. */
  readonly callbackKey: string;
  /** Sorted set by time: calls stored as allowed whose workflow start is not yet confirmed. */
  readonly callsUnstarted: string;
  /** Sorted set by name (all scores 0): calls of the tenant that have not ended. */
  readonly callsOpen: string;
  /** Where the sweep over `callsOpen` goes on. */
  readonly callsOpenCursor: string;
  /** Hash: json, start, profile, ended; step:<n> and, while it runs, said:<n>. */
  turn(id: string): string;
  /** Sorted set: turns by their place in the thread. */
  threadTurns(id: string): string;
  /** Sorted set by time: turns whose workflow start is not yet confirmed. */
  readonly turnsUnstarted: string;
  /** Sorted set by name (all scores 0): turns of the tenant that have not ended. */
  readonly turnsOpen: string;
  /** Hash: json, state, openedAt. */
  wait(id: string): string;
  /** Sorted set: open waits in the order in which they were opened. */
  readonly waits: string;
  /** Counter behind the scores of `waits`. */
  readonly waitSeq: string;
  /** Stream: an index over the events of all threads, and the events that belong to no thread. */
  readonly audit: string;
  /** Hash: json. */
  apiKey(id: string): string;
  readonly apiKeys: string;
  readonly settings: string;
  /** Hash: keys that Manager signs with, by generation. */
  readonly hookKeys: string;
  /** The answer to a dispatch of Coder. */
  dispatch(id: string): string;
  /** The text of a prompt that was answered as pending, by what makes prompts identical. */
  parkedPrompt(identity: string): string;
  /** Written to see whether the store takes writes. */
  readonly ping: string;
  /** Pub/sub channel: the id of each thread that changed. */
  readonly changes: string;
}

export function keyspaceOf(tenant: string): Keyspace {
  const at = (...parts: string[]): string => [`pc:{${tenant}}`, ...parts].join(':');
  return {
    tenant,
    profile: (id) => at('profile', id),
    profiles: at('profiles'),
    thread: (id) => at('thread', id),
    threads: at('threads'),
    threadsOf: (owner) => at('threads', 'of', owner),
    threadsWaiting: at('threads', 'waiting'),
    threadEvents: (id) => at('thread', id, 'events'),
    threadCalls: (id) => at('thread', id, 'calls'),
    threadTexts: (id, point) => at('thread', id, 'texts', point),
    threadOpenCalls: (id) => at('thread', id, 'open'),
    threadWaits: (id) => at('thread', id, 'waits'),
    call: (id) => at('call', id),
    callBlob: (callId, name) => at('call', callId, 'blob', name),
    turn: (id) => at('turn', id),
    threadTurns: (id) => at('thread', id, 'turns'),
    turnsUnstarted: at('turns', 'unstarted'),
    turnsOpen: at('turns', 'open'),
    blobsUnclaimed: at('blobs', 'unclaimed'),
    threadToolUses: (id) => at('thread', id, 'tool-uses'),
    pendingCalls: (identity) => at('pending', identity),
    earlyAnswer: (deliveryId) => at('delivery', deliveryId, 'early'),
    callbackKey: at('callback-key'),
    callsUnstarted: at('calls', 'unstarted'),
    callsOpen: at('calls', 'open'),
    callsOpenCursor: at('calls', 'open', 'cursor'),
    wait: (id) => at('wait', id),
    waits: at('waits'),
    waitSeq: at('waits', 'seq'),
    audit: at('audit'),
    apiKey: (id) => at('key', id),
    apiKeys: at('keys'),
    settings: at('settings'),
    hookKeys: at('hook-keys'),
    dispatch: (id) => at('coder', 'dispatch', id),
    parkedPrompt: (identity) => at('coder', 'prompt', identity),
    ping: at('ping'),
    changes: at('changes'),
  };
}
