import { EventEmitter, once } from 'node:events';
import type { RedisConnection } from './connection';
import type { Keyspace } from './keyspace';

/** Even when a notice is lost (a broken connection), nobody sleeps longer than this before looking again. */
const LOOK_AGAIN_MS = 2_000;

/**
 * Wakes long-polls and streams when a thread or a call of the tenant changes. One subscription per process and tenant.
 *
 * A notice only says "look again": state is always read from the store, so a lost or doubled notice is harmless.
 */
export interface ChangeFeed {
  /**
   * Begins to listen to a thread, or to every thread of the tenant. Listen first and read afterwards, so that no
   * change falls between the two.
   */
  listen(threadId?: string): ChangeListener;
  /** Begins to listen to one profile. */
  listenToProfile(profileId: string): ChangeListener;
  /** Begins to listen to one call: to each of its steps, or only to those after which somebody else is to act. */
  listenToCall(callId: string, which: 'every step' | 'settled'): ChangeListener;
  /** Passes on how far a tool has come, to whoever watches the call now. */
  tellProgress(callId: string, progress: ToolProgress): Promise<void>;
  /** Watches how far the tool of a call has come, until it is stopped. What is told meanwhile is not kept. */
  watchProgress(callId: string, watch: (progress: ToolProgress) => void): () => void;
  close(): Promise<void>;
}

/** How far a tool has come, by its own measure (MCP 2025-11-25, "Progress"). No text: that would be unjudged output. */
export interface ToolProgress {
  readonly progress: number;
  readonly total?: number;
}

export interface ChangeListener {
  /** Resolves at the next change, when `LOOK_AGAIN_MS` or `timeoutMs` is over, or when the signal is aborted. */
  next(timeoutMs: number, signal?: AbortSignal): Promise<void>;
  stop(): void;
}

const ANY = '*';

/** `profile/<profile>`, `<thread>`, or `<thread> <call>` and, when nothing more happens with the call by itself, ` settled`. */
function namesIn(notice: string): string[] {
  const [thread = '', call, settled] = notice.split(' ');
  if (call === undefined) return [ANY, thread];
  return [ANY, thread, callName(call), ...(settled === undefined ? [] : [settledName(call)])];
}

/** What is told when a profile has a new version; thread ids hold no `/`. */
export const profileNotice = (profileId: string): string => `profile/${profileId}`;

const PROGRESS = 'progress/';
const progressName = (callId: string): string => `${PROGRESS}${callId}`;

function tell(emitter: EventEmitter, notice: string): void {
  const [name = '', progress, total] = notice.split(' ');
  const told: ToolProgress = {
    progress: Number(progress),
    ...(total !== undefined && { total: Number(total) }),
  };
  emitter.emit(name, told);
}

const callName = (callId: string): string => `call ${callId}`;
const settledName = (callId: string): string => `settled ${callId}`;

export async function openChangeFeed(
  redis: RedisConnection,
  keyspace: Keyspace,
  onError: (error: Error) => void,
): Promise<ChangeFeed> {
  const emitter = new EventEmitter();
  emitter.setMaxListeners(0);
  const subscriber = redis.duplicate();
  subscriber.on('error', onError);
  await subscriber.connect();
  await subscriber.subscribe(keyspace.changes, (notice) => {
    if (notice.startsWith(PROGRESS)) tell(emitter, notice);
    else for (const name of namesIn(notice)) emitter.emit(name);
  });
  return {
    listen: (threadId = ANY) => listenTo(emitter, threadId),
    listenToProfile: (profileId) => listenTo(emitter, profileNotice(profileId)),
    listenToCall: (callId, which) =>
      listenTo(emitter, which === 'settled' ? settledName(callId) : callName(callId)),
    async tellProgress(callId, { progress, total }) {
      const numbers = [progress, ...(total === undefined ? [] : [total])].join(' ');
      await redis.publish(keyspace.changes, `${progressName(callId)} ${numbers}`);
    },
    watchProgress(callId, watch) {
      const name = progressName(callId);
      emitter.on(name, watch);
      return () => emitter.off(name, watch);
    },
    close: async () => {
      await subscriber.close();
    },
  };
}

function listenTo(emitter: EventEmitter, name: string): ChangeListener {
  let changed = false;
  const note = (): void => {
    changed = true;
  };
  emitter.on(name, note);
  return {
    async next(timeoutMs, signal) {
      if (!changed && signal?.aborted !== true) {
        const wait = AbortSignal.timeout(Math.max(0, Math.min(timeoutMs, LOOK_AGAIN_MS)));
        const ended = signal === undefined ? wait : AbortSignal.any([wait, signal]);
        await once(emitter, name, { signal: ended }).catch(ignoreAbort);
      }
      changed = false;
    },
    stop() {
      emitter.off(name, note);
    },
  };
}

function ignoreAbort(error: unknown): void {
  // By name, not by class: another realm's AbortError is one too.
  if (typeof error !== 'object' || error === null || !('name' in error) || error.name !== 'AbortError')
    throw error;
}
